//===- Convolution.h - A convolution over neighboring tokens ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_CONVOLUTION_H
#define ATTUNE_IMPORT_CONVOLUTION_H

#include "compiler/Import/TokenBatch.h"

namespace attune {

/// Emits the convolution |spec| of |input|, adds it to |layer| and normalizes the sum. |input|, |layer| and the result
/// are `[T, H]`, for T tokens of H features. Rows of hidden tokens become zero.
mlir::Value emitConvolution(EntryScope &scope, const ConvolutionSpec &spec, TokenBatch &tokens, mlir::Value input, mlir::Value layer);

} // namespace attune

#endif // ATTUNE_IMPORT_CONVOLUTION_H
