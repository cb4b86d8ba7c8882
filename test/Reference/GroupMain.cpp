//===- GroupMain.cpp - attune-test-groups ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attune-test-groups SEED COUNT FOLDER [deep]
//
// Writes a module with COUNT random sequences of operations or, with `deep`, COUNT projections of 2500 to 3300 input
// features, into FOLDER (model.mlir, weights.safetensors, in.safetensors), and its expected outputs, computed in double
// (expected.safetensors).
//===----------------------------------------------------------------------===//

#include "test/Reference/GroupModule.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>

using namespace attune;
using namespace attune::reference;

int main(int argc, char **argv) {
  if (argc < 4) {
    std::fprintf(stderr, "expected SEED COUNT FOLDER [deep]\n");
    return 1;
  }
  const bool deep = argc > 4 && std::string_view(argv[4]) == "deep";
  GroupModule module(std::strtoull(argv[1], nullptr, 10));
  for (int i = 0, count = std::atoi(argv[2]); i < count; ++i)
    deep ? module.addDeep() : module.add();
  std::filesystem::create_directories(argv[3]);
  if (Status status = module.write(argv[3]); status.failed()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    return 1;
  }
}
