//===- InputFile.h - Inputs of a call in a file ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_INPUTFILE_H
#define ATTUNE_COMPILER_TOOLS_INPUTFILE_H

#include "compiler/Support/Safetensors.h"
#include "compiler/Support/SafetensorsWriter.h"

#include <optional>

namespace attune {

/// The value of a flag such as --input: the inputs of a call in a safetensors file.
class InputFile {
public:
  /// Opens |path|; "" stands for no file, which has no tensors.
  static Result<InputFile> open(const std::string &path);

  /// Returns the tensors, sorted by name, valid as long as this object.
  const std::vector<TensorView> &tensors() const { return views; }
  /// Returns names, types and shapes of the tensors.
  std::vector<TensorSpec> specs() const;

private:
  std::optional<SafetensorsFile> file;
  std::vector<TensorView> views;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_INPUTFILE_H
