//===- ExpandMath.cpp - Transcendental functions as polynomials -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expects math operations on f32 or vectors of f32, after vectorization; leaves arithmetic that needs no library. Other
// element types stay, and so do other functions: instructions (sqrt, floor, fma, ...), and those that
// attune-prepare-for-llvm rejects (sin, pow, ...).
//
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/ExpandMathFunctions.h"
#include "compiler/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/ADT/TypeSwitch.h"

namespace attune {
#define GEN_PASS_DEF_EXPANDMATH
#include "compiler/Transforms/Passes.h.inc"
} // namespace attune

using namespace mlir;

namespace {

using Emit = Value (*)(OpBuilder &, Location, Value);

/// Returns the function that expands |op|, or null if |op| stays.
Emit getExpansion(Operation *op) {
  return llvm::TypeSwitch<Operation *, Emit>(op)
      .Case<math::Exp2Op>([](auto) { return attune::emitExp2; })
      .Case<math::ExpOp>([](auto) { return attune::emitExp; })
      .Case<math::ErfOp>([](auto) { return attune::emitErf; })
      .Case<math::TanhOp>([](auto) { return attune::emitTanh; })
      .Case<math::LogOp>([](auto) { return attune::emitLog; })
      .Case<math::RsqrtOp>([](auto) { return attune::emitRsqrt; })
      .Default([](auto) { return nullptr; });
}

/// Returns |type| with f32 in place of its element type.
Type withF32(Type type) {
  Type f32 = Float32Type::get(type.getContext());
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? Type(shaped.clone(f32)) : f32;
}

/// Splits each conversion between integers and bf16 into one between integers and f32 and one between f32 and bf16,
/// which can be expanded. The canonicalizer merges two such conversions to one.
void splitIntegerConversions(Operation *root) {
  IRRewriter rewriter(root->getContext());
  root->walk([&](Operation *op) {
    if (!isa<arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp>(op))
      return;
    Value input = op->getOperand(0), result = op->getResult(0);
    rewriter.setInsertionPoint(op);
    if (getElementTypeOrSelf(input).isBF16()) {
      Value wide = arith::ExtFOp::create(rewriter, op->getLoc(), withF32(input.getType()), input);
      rewriter.modifyOpInPlace(op, [&] { op->setOperand(0, wide); });
    } else if (getElementTypeOrSelf(result).isBF16()) {
      Type narrow = result.getType();
      rewriter.modifyOpInPlace(op, [&] { result.setType(withF32(narrow)); });
      rewriter.setInsertionPointAfter(op);
      auto rounded = arith::TruncFOp::create(rewriter, op->getLoc(), narrow, result);
      rewriter.replaceAllUsesExcept(result, rounded, rounded);
    }
  });
}

struct ExpandMath : attune::impl::ExpandMathBase<ExpandMath> {
  using ExpandMathBase::ExpandMathBase;

  void runOnOperation() override {
    if (expandBF16) {
      splitIntegerConversions(getOperation());
      RewritePatternSet patterns(&getContext());
      arith::populateExpandBFloat16Patterns(patterns);
      walkAndApplyPatterns(getOperation(), std::move(patterns));
    }
    // A walk rather than patterns: the greedy driver would also fold vector code whose exact form is intended.
    IRRewriter rewriter(&getContext());
    getOperation()->walk([&](Operation *op) {
      Emit emit = getExpansion(op);
      if (!emit || !isa<FloatType, VectorType>(op->getResult(0).getType()) || !getElementTypeOrSelf(op->getResult(0)).isF32())
        return;
      rewriter.setInsertionPoint(op);
      rewriter.replaceOp(op, emit(rewriter, op->getLoc(), op->getOperand(0)));
    });
  }
};

} // namespace
