//===- Gguf.cpp - Fuzz GGUF files -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Input: a file. If it is accepted, the target reads the first and the last element of every tensor, and the sanitizer
// checks that their blocks are within the input.
//===----------------------------------------------------------------------===//
#include "compiler/Support/DType.h"
#include "compiler/Support/Gguf.h"

using namespace attune;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Result<GgufFile> file = GgufFile::parse("fuzz", data, size);
  if (!file) {
    if (file.message().rfind("fuzz: ", 0) != 0)
      __builtin_trap();
    return 0;
  }
  for (const auto &[name, tensor] : file->tensors())
    for (int64_t index : {int64_t(0), *elementCount(tensor.shape) - 1}) {
      float value;
      dequantizeGguf(tensor.type, tensor.data, index, 1, &value);
    }
  return 0;
}
