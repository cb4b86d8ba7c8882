// Any names of dims and tensors become different identifiers of C and C++ in the header, in formulas, too.
// RUN: rm -rf %t && split-file %s %t
// RUN: attune compile %t/names.mlir -o %t/names.o
// RUN: FileCheck %s < %t/names.h
// RUN: %cc -std=c11 -Wall -Wextra -Werror -I %runtime_include -I %t %t/main.c %t/names.o -o %t/main && %t/main
// RUN: %cc -std=gnu17 -Wall -Wextra -Werror -fsyntax-only -I %runtime_include -I %t %t/main.c
// RUN: %cxx -std=c++17 -Wall -Wextra -Werror -fsyntax-only -I %runtime_include -I %t -x c++ %t/main.c
// RUN: %cxx -std=c++20 -Wall -Wextra -Werror -fsyntax-only -I %runtime_include -I %t -x c++ %t/main.c

// CHECK: dimensions: batch, for, a-b, a_b, 2d, _Bool, linux, * /{{$}}
// CHECK-DAG: names_forward_input_count_ = 1,
// CHECK-DAG: names_forward_input_count = 8
// CHECK-DAG: names_forward_input_p_q_2 = 2,
// CHECK-DAG: names_forward_input_p_q = 3,
// CHECK-DAG: names_forward_input_int = 4,
// CHECK: names_workspace_bytes(int64_t batch, int64_t for_, int64_t a_b_2, int64_t a_b, int64_t dim_2d, int64_t dim__Bool, int64_t linux_,

//--- names.mlir
func.func @forward(%0: tensor<?x8xf32> {xfmr.input = #xfmr.input<"x", ["batch", 8]>},
                   %1: tensor<?x8xf32> {xfmr.input = #xfmr.input<"count", ["for", 8]>},
                   %2: tensor<?x8xf32> {xfmr.input = #xfmr.input<"p.q", ["a-b", 8]>},
                   %3: tensor<?x8xf32> {xfmr.input = #xfmr.input<"p_q", ["a_b", 8]>},
                   %4: tensor<?x8xf32> {xfmr.input = #xfmr.input<"int", ["2d", 8]>},
                   %5: tensor<?x8xf32> {xfmr.input = #xfmr.input<"u", ["_Bool", 8]>},
                   %6: tensor<?x8xf32> {xfmr.input = #xfmr.input<"v", ["linux", 8]>},
                   %7: tensor<?x8xf32> {xfmr.input = #xfmr.input<"w", ["*/", 8]>})
    -> (tensor<?x8xf32> {xfmr.output = #xfmr.output<"x", ["batch", 8]>},
        tensor<?x8xf32> {xfmr.output = #xfmr.output<"count", ["for", 8]>},
        tensor<?x8xf32> {xfmr.output = #xfmr.output<"p.q", ["a-b", 8]>},
        tensor<?x8xf32> {xfmr.output = #xfmr.output<"p_q", ["a_b", 8]>},
        tensor<?x8xf32> {xfmr.output = #xfmr.output<"int", ["2d", 8]>},
        tensor<?x8xf32> {xfmr.output = #xfmr.output<"u", ["_Bool", 8]>},
        tensor<?x8xf32> {xfmr.output = #xfmr.output<"v", ["linux", 8]>},
        tensor<?x8xf32> {xfmr.output = #xfmr.output<"w", ["*/", 8]>})
    attributes {xfmr.entry = #xfmr.entry<"forward">} {
  %a0 = xfmr.softmax %0 : tensor<?x8xf32>
  %b0 = xfmr.softmax %a0 : tensor<?x8xf32>
  %a1 = xfmr.softmax %1 : tensor<?x8xf32>
  %b1 = xfmr.softmax %a1 : tensor<?x8xf32>
  %a2 = xfmr.softmax %2 : tensor<?x8xf32>
  %b2 = xfmr.softmax %a2 : tensor<?x8xf32>
  %a3 = xfmr.softmax %3 : tensor<?x8xf32>
  %b3 = xfmr.softmax %a3 : tensor<?x8xf32>
  %a4 = xfmr.softmax %4 : tensor<?x8xf32>
  %b4 = xfmr.softmax %a4 : tensor<?x8xf32>
  %a5 = xfmr.softmax %5 : tensor<?x8xf32>
  %b5 = xfmr.softmax %a5 : tensor<?x8xf32>
  %a6 = xfmr.softmax %6 : tensor<?x8xf32>
  %b6 = xfmr.softmax %a6 : tensor<?x8xf32>
  %a7 = xfmr.softmax %7 : tensor<?x8xf32>
  %b7 = xfmr.softmax %a7 : tensor<?x8xf32>
  return %b0, %b1, %b2, %b3, %b4, %b5, %b6, %b7
      : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>,
        tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

//--- main.c
#include "names.h"

#include <string.h>

int main(void) {
  const attune_entry_desc *entry = &attune_model_names.entries[0];
  if (strcmp(entry->inputs[names_forward_input_p_q].name, "p_q") != 0 ||
      strcmp(entry->outputs[names_forward_output_p_q_2].name, "p.q") != 0)
    return 1;
  for (int changed = 0; changed < 8; ++changed) {
    int64_t d[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    d[changed] = 1000;
    if (entry->workspace_bytes(d, 2) != names_workspace_bytes(d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7], 2))
      return 2;
  }
  return 0;
}
