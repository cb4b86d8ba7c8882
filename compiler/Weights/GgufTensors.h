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
  /// If not 0, the rows belong to this many heads of equal size, and the file has row i and row i + size / 2 of each
  /// head of the reference model as neighbors.
  int64_t pairedHeads = 0;
  /// True if the file has the transpose of the reference model's matrix.
  bool transposed = false;
  /// If not negative, the tensor is only the matrix of this index in the file's tensor, a stack of matrices along the
  /// first axis.
  int64_t index = -1;
  /// True if the tensor is a matrix of one row, which the file may have as a vector.
  bool isRow = false;
  /// The number to add to every element of the file to get that of the reference model.
  float summand = 0;
};

/// Returns a provider of the tensors of the reference model that are the keys of |sources|, with the type F32. Fails if
/// a source names a tensor that the file lacks or whose shape does not fit the source.
Result<std::unique_ptr<TensorProvider>> openGgufTensors(std::shared_ptr<const GgufFile> file,
                                                        const std::map<std::string, GgufSource> &sources);

} // namespace attune

#endif // ATTUNE_COMPILER_WEIGHTS_GGUFTENSORS_H
