//===- QuantizedTensors.h - Stored matrices of a few bits -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A provider of the tensors of a folder whose matrices are stored quantized. Each matrix `X.weight` is dequantized
// while it is read, a slice at a time, as
//
//     w[n, k] = scale[n, g] * (q[n, k] - zero[n, g])        g = the group of column k
//
// in f32, where q are the stored values. If a block of rows shares scales, the index of the block replaces n in scale
// and zero. zero is 0 for values of F8 and for matrices without zero points. The difference is exact, so an element is
// rounded at most once, and not at all if the scale is F16 or BF16.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_WEIGHTS_QUANTIZEDTENSORS_H
#define ATTUNE_COMPILER_WEIGHTS_QUANTIZEDTENSORS_H

#include "compiler/Support/Safetensors.h"
#include "compiler/Weights/TensorProvider.h"

namespace attune {

/// The form in which a folder stores its quantized matrices, as its quantization settings say.
struct QuantizedFormat {
  enum Method { Gptq, Awq, CompressedTensors, BlockFloat8 };

  /// The number of bits of a value, and the size of a group.
  struct Groups {
    int bits;
    /// The number of columns of a row that share a scale; 0 for all columns.
    int64_t size;
  };

  Method method;
  /// One element for Gptq and Awq, none for BlockFloat8. For CompressedTensors, one element for each group of modules
  /// in the configuration; the shapes of a matrix's tensors determine which element applies to the matrix.
  std::vector<Groups> groups;
  /// Gptq: zero points are stored minus one.
  bool zerosMinusOne = false;
  /// CompressedTensors, BlockFloat8: the number of rows and of columns of a block with one scale; 0 if there are no
  /// blocks.
  int64_t blockRows = 0, blockColumns = 0;
};

/// The tensors of a quantized folder.
struct QuantizedTensors {
  std::unique_ptr<TensorProvider> tensors;
  /// The names of the matrices that are stored quantized, sorted.
  std::vector<std::string> matrices;
};

/// Returns the tensors of |folder|. A matrix `X.weight` replaces the tensors that store it quantized in |format|; other
/// tensors are the same as in the files. Fails if a tensor of a matrix is missing or has another type or shape than the
/// format needs, if a matrix is there in two forms, or if there are scales of activations (`X.act.scales`). With
/// CompressedTensors, also fails if only the scales of a matrix are there, or if several numbers of bits of
/// |format|.groups fit the size of its packed rows. Errors name the file.
Result<QuantizedTensors> openQuantizedTensors(const std::string &folder, const QuantizedFormat &format);

} // namespace attune

#endif // ATTUNE_COMPILER_WEIGHTS_QUANTIZEDTENSORS_H
