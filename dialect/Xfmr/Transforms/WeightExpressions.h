//===- WeightExpressions.h - Questions about weights in the IR --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_XFMR_TRANSFORMS_WEIGHTEXPRESSIONS_H
#define ATTUNE_DIALECT_XFMR_TRANSFORMS_WEIGHTEXPRESSIONS_H

#include "dialect/Xfmr/IR/XfmrOps.h"

namespace mlir::xfmr {

/// Whether |op| only rearranges weights: its results are weights if its operands are.
bool isWeightExpression(Operation *op);

/// Whether |value| is a function argument marked `xfmr.weight`.
bool isWeightArgument(Value value);

/// Whether |value| is a weight: a marked argument, a reference, or an expression over these.
bool isWeight(Value value);

/// The source of what the weight expression |op| computes from operands with |sources|.
Attribute composeSource(Operation *op, ArrayRef<Attribute> sources);

/// What the expression |op| adds to the name of its first operand (".concat").
StringRef weightNameSuffix(Operation *op);

} // namespace mlir::xfmr

#endif // ATTUNE_DIALECT_XFMR_TRANSFORMS_WEIGHTEXPRESSIONS_H
