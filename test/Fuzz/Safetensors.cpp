//===- Safetensors.cpp - Fuzz the header of safetensors files -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Input: a safetensors file. If the reader accepts it, the fuzz target reads the first and the last element of every
// tensor of floats or integers, and the sanitizer checks that these elements are within the input.
//===----------------------------------------------------------------------===//
#include "compiler/Support/Safetensors.h"

using namespace attune;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Result<SafetensorsFile> file = SafetensorsFile::parse("fuzz", data, size);
  if (!file) {
    // The error must begin with the name of the file.
    if (file.message().rfind("fuzz", 0) != 0)
      __builtin_trap();
    return 0;
  }
  for (const auto &[name, tensor] : file->tensors()) {
    for (int64_t index : {int64_t(0), tensor.elements - 1}) {
      float real;
      int64_t integer;
      if (tensor.elements == 0)
        break;
      if (isFloat(tensor.dtype))
        convertToF32(tensor, index, 1, &real);
      else if (isInteger(tensor.dtype))
        convertToI64(tensor, index, 1, &integer);
    }
  }
  return 0;
}
