//===- CheckObject.cpp - The check of emitted objects on any object -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// usage: attune-test-object FILE [SYMBOL...]
//
// Prints the error of checkObject for the object FILE, which may export SYMBOL..., or "accepted".
//
//===----------------------------------------------------------------------===//

#include "compiler/Object/Emit.h"

#include <cstdio>
#include <fstream>
#include <iterator>

using namespace attune;

int main(int argc, char **argv) {
  if (argc < 2)
    return std::fprintf(stderr, "usage: attune-test-object FILE [SYMBOL...]\n"), 1;
  std::ifstream file(argv[1], std::ios::binary);
  const std::string object((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::vector<std::string> visible(argv + 2, argv + argc);
  Status status = checkObject(object, visible);
  std::printf("%s\n", status.failed() ? status.message().c_str() : "accepted");
  return 0;
}
