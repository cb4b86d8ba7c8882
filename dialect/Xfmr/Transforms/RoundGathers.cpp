//===- RoundGathers.cpp - Gathers of rounded rows -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects xfmr.all_gather, and the attribute `precision` of all linears. Each element is rounded by itself, so rounding
// can precede the gather. The sizes are those of an element:
//
//     before   shard f32 --- all_gather (4 bytes) --- f32 --- linear (rounds to bf16)
//     after    shard f32 --- truncf --- bf16 --- all_gather (2 bytes) --- bf16 --- extf --- f32 --- linear
//
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/OpRemark.h"
#include "dialect/Xfmr/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::xfmr {
#define GEN_PASS_DEF_ROUNDGATHERS
#include "dialect/Xfmr/Transforms/Passes.h.inc"
} // namespace mlir::xfmr

using namespace mlir;
using namespace mlir::xfmr;

/// Returns the type, bf16 or f16, to which every reader of |gather| rounds its result. Returns null if a reader needs
/// all bits, if readers round to different types, or if there is no reader. A `tensor.dim` is no reader.
static FloatType getRoundedType(AllGatherOp gather) {
  FloatType type;
  for (OpOperand &use : gather->getUses()) {
    if (isa<tensor::DimOp>(use.getOwner()))
      continue;
    auto linear = dyn_cast<LinearOp>(use.getOwner());
    if (!linear || use.getOperandNumber() != linear.getInputMutable().getOperandNumber())
      return {};
    FloatType rounded;
    if (linear.getPrecision() == Precision::BF16)
      rounded = BFloat16Type::get(gather.getContext());
    else if (linear.getPrecision() == Precision::F16)
      rounded = Float16Type::get(gather.getContext());
    if (!rounded || (type && type != rounded))
      return {};
    type = rounded;
  }
  return type;
}

namespace {
struct RoundGathers : xfmr::impl::RoundGathersBase<RoundGathers> {
  using RoundGathersBase::RoundGathersBase;

  void runOnOperation() override {
    SmallVector<AllGatherOp> gathers;
    getOperation().walk([&](AllGatherOp gather) { gathers.push_back(gather); });
    for (AllGatherOp gather : gathers) {
      FloatType type = gather.getType().getElementType().isF32() ? getRoundedType(gather) : FloatType();
      if (!type)
        continue;
      passed(gather, "xfmr-round-gathers", "RoundGathers") << remark::add("its readers round to {0}", type);
      OpBuilder builder(gather);
      Location loc = gather.getLoc();
      Value shard = arith::TruncFOp::create(builder, loc, gather.getInput().getType().clone(type), gather.getInput());
      Value whole = AllGatherOp::create(builder, loc, gather.getType().clone(type), shard, gather.getAxis(), gather.getBegins());
      gather.replaceAllUsesWith(arith::ExtFOp::create(builder, loc, gather.getType(), whole).getResult());
      gather.erase();
    }
  }
};
} // namespace
