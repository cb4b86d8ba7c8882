//===- LowerPrecision.cpp - Projections from rounded operands -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects decomposed composites. Records the precision of every linear and the format of its weights as attributes for
// later phases; rounds nothing yet.
//
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/OpRemark.h"
#include "dialect/Xfmr/Transforms/Passes.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::xfmr {
#define GEN_PASS_DEF_LOWERPRECISION
#include "dialect/Xfmr/Transforms/Passes.h.inc"
} // namespace mlir::xfmr

using namespace mlir;
using namespace mlir::xfmr;

namespace {

/// Returns the reason why |op| cannot be computed in |precision|; empty if it can.
StringRef whyNot(LinearOp op, Precision precision) {
  if (!llvm::all_of(op.getOperandTypes(), [](Type type) { return getElementTypeOrSelf(type).isF32(); }))
    return "its tensors are not f32";
  if (precision == Precision::Int8 && op.getInput().getType().getDimSize(1) > kMaxInt8Depth)
    return "it has more features than 32-bit sums can hold";
  if (llvm::any_of(op->getUsers(), llvm::IsaPred<ChooseExpertsOp>))
    return "it scores experts";
  return "";
}

struct LowerPrecision : xfmr::impl::LowerPrecisionBase<LowerPrecision> {
  using LowerPrecisionBase::LowerPrecisionBase;

  void runOnOperation() override {
    WeightFormatAttr format;
    if (!weightsFormat.empty()) {
      std::optional<WeightFormat> known = WeightFormat::parse(weightsFormat);
      if (!known) {
        getOperation().emitError("expects a weights-format such as int8:32 or int4:64, but got '")
            << weightsFormat << "'";
        return signalPassFailure();
      }
      format = WeightFormatAttr::get(&getContext(), *known);
    }
    getOperation().walk([&](LinearOp op) {
      if ((precision == Precision::F32 && !format) || op.getPrecision() != Precision::F32 || op.getFormat())
        return;
      if (StringRef why = whyNot(op, precision); !why.empty()) {
        missed(op, "xfmr-lower-precision", "LowerPrecision") << remark::reason("{0}", why);
        return;
      }
      op.setPrecision(precision);
      if (format)
        op.setFormatAttr(format);
      passed(op, "xfmr-lower-precision", "LowerPrecision") << remark::add("its operands are {0}{1}{2}", stringifyPrecision(precision),
                                                                          format ? ", its weights " : "", weightsFormat.getValue());
    });
  }
};

} // namespace
