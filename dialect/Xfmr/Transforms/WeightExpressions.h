//===- WeightExpressions.h - Questions about weights in the IR --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_XFMR_TRANSFORMS_WEIGHTEXPRESSIONS_H
#define ATTUNE_DIALECT_XFMR_TRANSFORMS_WEIGHTEXPRESSIONS_H

#include "dialect/Xfmr/IR/XfmrOps.h"

namespace mlir::xfmr {

/// Returns true if |op| computes weights from weights, so that the packer can evaluate it.
bool isWeightExpression(Operation *op);

/// Returns true if |value| is a function argument marked `xfmr.weight`.
bool isWeightArgument(Value value);

/// Returns true if |value| is a weight: a marked argument, a reference, an expression over weights, or an element that
/// `xfmr.weight_select` selects from a stack that is a weight.
bool isWeight(Value value);

/// Returns the source of the result of the weight expression |op|, whose operands have |sources|, in order.
Attribute composeSource(Operation *op, ArrayRef<Attribute> sources);

/// Returns the suffix that the expression |op| adds to the name of its first operand (".concat"); "" for other
/// operations.
StringRef weightNameSuffix(Operation *op);

} // namespace mlir::xfmr

#endif // ATTUNE_DIALECT_XFMR_TRANSFORMS_WEIGHTEXPRESSIONS_H
