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

/// The two destinations of a command's outputs: a file, and standard output.
struct OutputTarget {
  std::string file;
  bool print = false;
};

/// Writes |tensors| to the file if one is named. Prints them if requested, or if no file is named. Of several ranks
/// only rank 0 writes and prints; all ranks call it.
Status deliverTensors(const OutputTarget &target, const std::vector<OwnedTensor> &tensors);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_PRINTTENSORS_H
