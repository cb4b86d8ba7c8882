//===- Convolution.h - A convolution over neighboring tokens ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_CONVOLUTION_H
#define ATTUNE_IMPORT_CONVOLUTION_H

#include "compiler/Import/TokenBatch.h"

namespace attune {

/// Emits the convolution |spec| of |input| `[T, H]`, adds it to |layer| `[T, H]` and normalizes the sum. Rows of hidden
/// tokens become zero.
mlir::Value emitConvolution(EntryScope &scope, const ConvolutionSpec &spec, TokenBatch &tokens, mlir::Value input, mlir::Value layer);

} // namespace attune

#endif // ATTUNE_IMPORT_CONVOLUTION_H
