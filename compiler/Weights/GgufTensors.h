//===- GgufTensors.h - The tensors of a GGUF file ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_WEIGHTS_GGUFTENSORS_H
#define ATTUNE_COMPILER_WEIGHTS_GGUFTENSORS_H

#include "compiler/Support/Gguf.h"
#include "compiler/Weights/TensorProvider.h"

namespace attune {

/// The tensor of a GGUF file that corresponds to a tensor of the reference model, the model of Hugging Face's
/// transformers, and the changes of the conversion to GGUF that must be undone.
struct GgufSource {
  std::string name;
  /// If not 0, the rows are those of this many heads, and in each head the file has row i and row i + (half of the
  /// head's rows) of the reference model as neighbors.
  int64_t pairedHeads = 0;
  /// True if rows and columns are exchanged.
  bool transposed = false;
  /// The index of the matrix in a stack along the first axis; -1 = the whole tensor.
  int64_t index = -1;
  /// The number that is added to every element of the file.
  float summand = 0;
};

/// Returns a provider of the tensors of |file| under the names of |sources|, with the type F32. Fails if a source names
/// a tensor that the file lacks or whose shape does not fit the source.
Result<std::unique_ptr<TensorProvider>> openGgufTensors(std::shared_ptr<const GgufFile> file,
                                                        const std::map<std::string, GgufSource> &sources);

} // namespace attune

#endif // ATTUNE_COMPILER_WEIGHTS_GGUFTENSORS_H
