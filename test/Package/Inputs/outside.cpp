// The program of outside.c through the C++ interface. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attune/runtime.hpp"
#include "model.h"

#include <cstdio>

int main(int argc, char **argv) try {
  attune::Model model(attune_model_model, argc > 1 ? argv[1] : "");
  attune::Session session(model, {{"batch", 1}, {"length", 5}});
  const std::vector<int64_t> ids = {1, 5, 7, 2, 3};
  for (const attune::Array &output : session.run(nullptr, {attune::view("input_ids", ids, {1, 5})}))
    std::printf("%s %016llx\n", output.name().c_str(),
                static_cast<unsigned long long>(attune_checksum(output.data<float>(), output.bytes())));
  return 0;
} catch (const std::exception &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
