//===- PrintTensors.h - Tensors as text -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_PRINTTENSORS_H
#define ATTUNE_COMPILER_TOOLS_PRINTTENSORS_H

#include "compiler/Support/Safetensors.h"
#include "compiler/Support/SafetensorsWriter.h"

namespace attune {

/// Returns "NAME DTYPE [2, 3]" and, from the next line on, the values in brackets as NumPy shows them, floats with up
/// to six significant digits. In a tensor of more than 24 floats or more than 1000 integers, each dimension of more
/// than six elements is abbreviated to its first and last three. The text ends with a line break.
std::string formatTensor(const TensorView &tensor);

/// The destinations of a command's outputs: a safetensors file, "" for none, and standard output.
struct OutputTarget {
  std::string file;
  bool print = false;
};

/// Writes |tensors| to the file if |target| has one. Prints them if |target|.print is true or |target| has no file. Of
/// several ranks only rank 0 writes and prints, but all ranks must call this function.
Status deliverTensors(const OutputTarget &target, const std::vector<OwnedTensor> &tensors);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_PRINTTENSORS_H
