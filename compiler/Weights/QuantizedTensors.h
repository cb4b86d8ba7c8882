//===- QuantizedTensors.h - Folders with matrices of a few bits -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A provider of the tensors of a folder whose matrices are stored quantized. Each matrix `X.weight` is dequantized
// (StoredMatrix.h) while it is read, a slice at a time.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_WEIGHTS_QUANTIZEDTENSORS_H
#define ATTUNE_COMPILER_WEIGHTS_QUANTIZEDTENSORS_H

#include "compiler/Weights/StoredMatrix.h"
#include "compiler/Weights/TensorProvider.h"

namespace attune {

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
