//===- CodeVersions.cpp - A kernel per form of projections -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/CodeVersions.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
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

SmallVector<CodeVersion> attune::makeCodeVersions(scf::ForallOp loop) {
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
  loop->moveBefore(builder.getInsertionBlock(), builder.getInsertionPoint());
  versions.push_back({loop, most});
  return versions;
}
