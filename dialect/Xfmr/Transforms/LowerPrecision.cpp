//===- LowerPrecision.cpp - Projections from rounded operands -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects no composites, and the attribute `format` of all projections whose weights get a format. Sets the attribute
// `precision` of each linear without a format, unless whyNotInPrecision gives a reason against it. Later phases read
// the attribute; this pass rounds nothing.
//
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/Transforms/LowerPrecision.h"
#include "dialect/Xfmr/IR/OpRemark.h"
#include "dialect/Xfmr/Transforms/Passes.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::xfmr {
#define GEN_PASS_DEF_LOWERPRECISION
#include "dialect/Xfmr/Transforms/Passes.h.inc"
} // namespace mlir::xfmr

using namespace mlir;
using namespace mlir::xfmr;

StringRef mlir::xfmr::whyNotInPrecision(LinearOp op, Precision precision) {
  if (!llvm::all_of(op.getOperandTypes(), [](Type type) { return getElementTypeOrSelf(type).isF32(); }))
    return "its tensors are not f32";
  if (precision == Precision::Int8 && op.getInput().getType().getDimSize(1) > kMaxInt8Depth)
    return "it has more features than 32-bit sums can hold";
  if (llvm::any_of(op->getUsers(), llvm::IsaPred<ChooseExpertsOp>))
    return "it scores experts";
  return "";
}

namespace {
struct LowerPrecision : xfmr::impl::LowerPrecisionBase<LowerPrecision> {
  using LowerPrecisionBase::LowerPrecisionBase;

  void runOnOperation() override {
    getOperation().walk([&](LinearOp op) {
      if (precision == Precision::F32 || op.getPrecision() != Precision::F32 || op.getFormat())
        return;
      if (StringRef why = whyNotInPrecision(op, precision); !why.empty()) {
        missed(op, "xfmr-lower-precision", "LowerPrecision") << remark::reason("{0}", why);
        return;
      }
      op.setPrecision(precision);
      passed(op, "xfmr-lower-precision", "LowerPrecision") << remark::add("its operands are {0}", stringifyPrecision(precision));
    });
  }
};
} // namespace
