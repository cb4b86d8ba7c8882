// Defaults of all types of elements, of more elements than the space that allocators add.
// RUN: printf '\67\0\0\0\0\0\0\0{"x":{"dtype":"U8","shape":[12],"data_offsets":[0,12]}}............' > %t.safetensors
// RUN: attune run --from-phase=import %s --input=%t.safetensors --print | FileCheck %s
// CHECK: I64 [12]
// CHECK-NEXT: [ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11]
// CHECK: I32 [12]
// CHECK-NEXT: [ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11]
// CHECK: I16 [12]
// CHECK-NEXT: [ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11]
// CHECK: I8 [12]
// CHECK-NEXT: [ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11]
// CHECK: BOOL [12]
// CHECK-NEXT: [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
// CHECK: F32 [12]
// CHECK-NEXT: [ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11]
func.func @forward(%x: tensor<?xi64> {xfmr.input = #xfmr.input<"x", [tokens]>},
                   %a: tensor<?xi64> {xfmr.input = #xfmr.input<"a", [tokens], default = arange>},
                   %b: tensor<?xi32> {xfmr.input = #xfmr.input<"b", [tokens], default = arange>},
                   %c: tensor<?xi16> {xfmr.input = #xfmr.input<"c", [tokens], default = arange>},
                   %d: tensor<?xi8> {xfmr.input = #xfmr.input<"d", [tokens], default = arange>},
                   %e: tensor<?xi1> {xfmr.input = #xfmr.input<"e", [tokens], default = ones>},
                   %f: tensor<?xf32> {xfmr.input = #xfmr.input<"f", [tokens], default = arange>})
    -> (tensor<?xi64> {xfmr.output = #xfmr.output<"a", [tokens]>}, tensor<?xi32> {xfmr.output = #xfmr.output<"b", [tokens]>},
        tensor<?xi16> {xfmr.output = #xfmr.output<"c", [tokens]>}, tensor<?xi8> {xfmr.output = #xfmr.output<"d", [tokens]>},
        tensor<?xi1> {xfmr.output = #xfmr.output<"e", [tokens]>}, tensor<?xf32> {xfmr.output = #xfmr.output<"f", [tokens]>})
    attributes {xfmr.entry = #xfmr.entry<"forward">} {
  return %a, %b, %c, %d, %e, %f : tensor<?xi64>, tensor<?xi32>, tensor<?xi16>, tensor<?xi8>, tensor<?xi1>, tensor<?xf32>
}
