//===- GgufTensors.h - The tensors of a GGUF file ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_WEIGHTS_GGUFTENSORS_H
#define ATTUNE_COMPILER_WEIGHTS_GGUFTENSORS_H

#include "compiler/Support/Gguf.h"
#include "compiler/Weights/TensorProvider.h"

namespace attune {

/// The tensor of a GGUF file that a tensor of the reference's files was converted to, and how to undo the conversion.
struct GgufSource {
  std::string name;
  /// > 0: each of |heads| heads has its rows in pairs, row i and row i + half of the original side by side.
  int64_t pairedHeads = 0;
  /// Rows and columns are exchanged.
  bool transposed = false;
  /// This matrix of a stack along the first axis; -1 = the whole tensor.
  int64_t index = -1;
  /// Is added to every element.
  float summand = 0;
};

/// Returns a provider of the tensors of |file| under the names of |sources|. Every source must name a tensor of the file
/// that has the form that it says.
Result<std::unique_ptr<TensorProvider>> openGgufTensors(std::shared_ptr<const GgufFile> file,
                                                        const std::map<std::string, GgufSource> &sources);

} // namespace attune

#endif // ATTUNE_COMPILER_WEIGHTS_GGUFTENSORS_H
