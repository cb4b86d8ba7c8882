//===- KernelVersions.cpp - Kernels for each variant of projections -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/KernelVersions.h"
#include "compiler/Target/NVVM/FlashWarpgroups.h"
#include "compiler/Target/NVVM/GroupedGemm.h"
#include "compiler/Target/NVVM/GroupedWarpgroups.h"
#include "compiler/Target/NVVM/ProjectionLoop.h"
#include "dialect/Rt/IR/RtOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace attune;

/// Returns |columns|, the columns of one iteration of a loop, if they are constant. If an affine.min computes them,
/// returns the smallest constant in it, but at most the columns of a Large tile; otherwise returns the columns of a
/// Large tile. The variant Large is right for any number of columns.
static int64_t largest(OpFoldResult columns) {
  if (std::optional<int64_t> constant = getConstantIntValue(columns))
    return *constant;
  int64_t bound = getMaxColumns(GemmVariant::Large);
  if (auto least = cast<Value>(columns).getDefiningOp<affine::AffineMinOp>())
    for (AffineExpr result : least.getMap().getResults())
      if (auto constant = dyn_cast<AffineConstantExpr>(result))
        bound = std::min(bound, constant.getValue());
  return bound;
}

/// Emits the condition that an iteration of |loop| has |steps| rows and |steps| columns, and that the GPU runs the
/// architecture-specific image of |arch|.
static Value hasStepsOn(int64_t arch, int64_t steps, scf::ForallOp loop, OpBuilder &builder) {
  Location loc = loop.getLoc();
  Value fits = rt::DeviceArchIsOp::create(builder, loc, arch);
  for (OpFoldResult step : loop.getMixedStep()) {
    Value size = getValueOrCreateConstantIndexOp(builder, loc, step), expected = arith::ConstantIndexOp::create(builder, loc, steps);
    Value isEqual = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, size, expected);
    fits = arith::AndIOp::create(builder, loc, fits, isEqual);
  }
  return fits;
}

bool attune::isTensorCoreProduct(Operation *op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return isMmaContraction(linalgOp);
  auto grouped = dyn_cast<tiles::GroupedProductOp>(op);
  return grouped && isGroupedGemm(grouped);
}

SmallVector<KernelVersion> attune::createKernelVersions(scf::ForallOp loop, const WgmmaTiles &wgmma) {
  SmallVector<KernelVersion> versions;
  OpBuilder builder(loop);
  // Emits the version for the architecture of |wgmma| in a branch that is taken if |fits|. Moves |builder| to the else
  // branch, for the other versions.
  auto addSpecific = [&](Value fits, GemmVariant variant) {
    auto choice = scf::IfOp::create(builder, loop.getLoc(), fits, /*withElse=*/true);
    OpBuilder inner = choice.getThenBodyBuilder();
    versions.push_back({cast<scf::ForallOp>(inner.clone(*loop)), variant, /*isArchSpecific=*/true});
    builder = choice.getElseBodyBuilder();
  };
  // Moves the loop itself to the insertion point of |builder|, as the version for all other cases.
  auto addOthers = [&](GemmVariant variant) {
    loop->moveBefore(builder.getInsertionBlock(), builder.getInsertionPoint());
    versions.push_back({loop, variant});
    return versions;
  };
  if (wgmma.arch != 0 && isWarpgroupAttention(loop)) {
    Value tiles = getValueOrCreateConstantIndexOp(builder, loop.getLoc(), loop.getMixedUpperBound()[2]);
    Value several = arith::CmpIOp::create(builder, loop.getLoc(), arith::CmpIPredicate::sgt, tiles,
                                          arith::ConstantIndexOp::create(builder, loop.getLoc(), 1));
    Value fits = arith::AndIOp::create(builder, loop.getLoc(), several, rt::DeviceArchIsOp::create(builder, loop.getLoc(), wgmma.arch));
    addSpecific(fits, GemmVariant::Small);
    return addOthers(GemmVariant::Small);
  }
  bool found =
      loop.walk([](Operation *op) { return isTensorCoreProduct(op) ? WalkResult::interrupt() : WalkResult::advance(); }).wasInterrupted();
  if (!found || loop.getRank() != 2)
    return {{loop, GemmVariant::Small}};
  OpFoldResult columns = loop.getMixedStep()[1];
  GemmVariant most = getGemmVariant(largest(columns));
  if (getConstantIntValue(columns))
    return {{loop, most}};
  bool canHave = wgmma.arch != 0 && most == GemmVariant::Large, hasWarpgroups = canHave && matchProjectionLoop(loop, kWarpgroupRows);
  std::optional<GroupedLoop> grouped = canHave ? matchGroupedLoop(loop, kWarpgroupRows) : std::nullopt;
  for (GemmVariant variant : {GemmVariant::Skinny, GemmVariant::Small}) {
    if (variant == most)
      break;
    Value limit = arith::ConstantIndexOp::create(builder, loop.getLoc(), getMaxColumns(variant));
    Value fits = arith::CmpIOp::create(builder, loop.getLoc(), arith::CmpIPredicate::sle, cast<Value>(columns), limit);
    auto choice = scf::IfOp::create(builder, loop.getLoc(), fits, /*withElse=*/true);
    builder = choice.getThenBodyBuilder();
    if (hasWarpgroups && variant == GemmVariant::Small)
      addSpecific(hasStepsOn(wgmma.arch, getMaxColumns(variant), loop, builder), variant);
    versions.push_back({cast<scf::ForallOp>(builder.clone(*loop)), variant});
    builder = choice.getElseBodyBuilder();
  }
  if (hasWarpgroups || (grouped && isGroupedWarpgroups(grouped->projection.product)))
    addSpecific(hasStepsOn(wgmma.arch, getMaxColumns(most), loop, builder), most);
  return addOthers(most);
}
