//===- CodeVersions.cpp - A kernel per form of projections -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/CodeVersions.h"
#include "compiler/Target/NVVM/FlashWarpgroups.h"
#include "compiler/Target/NVVM/WholeProjection.h"
#include "dialect/Rt/IR/RtOps.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace attune;

/// The most that |columns| can be.
static int64_t largest(OpFoldResult columns) {
  if (std::optional<int64_t> constant = getConstantIntValue(columns))
    return *constant;
  int64_t bound = getColumns(CodeForm::Wide);
  if (auto least = cast<Value>(columns).getDefiningOp<affine::AffineMinOp>())
    for (AffineExpr result : least.getMap().getResults())
      if (auto constant = dyn_cast<AffineConstantExpr>(result))
        bound = std::min(bound, constant.getValue());
  return bound;
}

/// Whether |loop| takes tiles of 128 rows and columns, where it runs on the GPU of |arch|.
static Value isWideOn(int64_t arch, scf::ForallOp loop, OpBuilder &builder) {
  Location loc = loop.getLoc();
  Value fits = rt::DeviceArchIsOp::create(builder, loc, arch);
  for (OpFoldResult step : loop.getMixedStep()) {
    Value size = getValueOrCreateConstantIndexOp(builder, loc, step), wide = arith::ConstantIndexOp::create(builder, loc, kWarpgroupRows);
    Value isWide = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, size, wide);
    fits = arith::AndIOp::create(builder, loc, fits, isWide);
  }
  return fits;
}

SmallVector<CodeVersion> attune::makeCodeVersions(scf::ForallOp loop, const SpecificTiles &specific) {
  if (specific.arch != 0 && isWarpgroupAttention(loop)) {
    OpBuilder builder(loop);
    Value tiles = getValueOrCreateConstantIndexOp(builder, loop.getLoc(), loop.getMixedUpperBound()[2]);
    Value several = arith::CmpIOp::create(builder, loop.getLoc(), arith::CmpIPredicate::sgt, tiles,
                                          arith::ConstantIndexOp::create(builder, loop.getLoc(), 1));
    Value fits = arith::AndIOp::create(builder, loop.getLoc(), several, rt::DeviceArchIsOp::create(builder, loop.getLoc(), specific.arch));
    auto choice = scf::IfOp::create(builder, loop.getLoc(), fits, /*withElse=*/true);
    OpBuilder inner = choice.getThenBodyBuilder();
    auto version = cast<scf::ForallOp>(inner.clone(*loop));
    loop->moveBefore(choice.getElseBodyBuilder().getInsertionBlock(), choice.getElseBodyBuilder().getInsertionPoint());
    return {{version, CodeForm::Narrow, /*isSpecific=*/true}, {loop, CodeForm::Narrow}};
  }
  bool found = loop.walk([](linalg::LinalgOp op) { return isCodeContraction(op) ? WalkResult::interrupt() : WalkResult::advance(); })
                   .wasInterrupted();
  if (!found || loop.getRank() != 2)
    return {{loop, CodeForm::Narrow}};
  OpFoldResult columns = loop.getMixedStep()[1];
  CodeForm most = getCodeForm(largest(columns));
  if (getConstantIntValue(columns))
    return {{loop, most}};
  SmallVector<CodeVersion> versions;
  OpBuilder builder(loop);
  for (CodeForm form : {CodeForm::Few, CodeForm::Narrow}) {
    if (form == most)
      break;
    Value limit = arith::ConstantIndexOp::create(builder, loop.getLoc(), getColumns(form));
    Value fits = arith::CmpIOp::create(builder, loop.getLoc(), arith::CmpIPredicate::sle, cast<Value>(columns), limit);
    auto choice = scf::IfOp::create(builder, loop.getLoc(), fits, /*withElse=*/true);
    OpBuilder inner = choice.getThenBodyBuilder();
    versions.push_back({cast<scf::ForallOp>(inner.clone(*loop)), form});
    builder = choice.getElseBodyBuilder();
  }
  if (specific.arch != 0 && most == CodeForm::Wide && findWholeProjection(loop, kWarpgroupRows)) {
    auto choice = scf::IfOp::create(builder, loop.getLoc(), isWideOn(specific.arch, loop, builder), /*withElse=*/true);
    OpBuilder inner = choice.getThenBodyBuilder();
    versions.push_back({cast<scf::ForallOp>(inner.clone(*loop)), most, /*isSpecific=*/true});
    builder = choice.getElseBodyBuilder();
  }
  loop->moveBefore(builder.getInsertionBlock(), builder.getInsertionPoint());
  versions.push_back({loop, most});
  return versions;
}
