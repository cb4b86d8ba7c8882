//===- LowerAmxTiles.cpp - Tile registers as LLVM's -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects amx operations on buffers, with AMX tiles that scf loops and branches may carry. Leaves intrinsics, and scf
// operations, on LLVM's tile type, `x86_amx`. MLIR's conversion of vectors to LLVM, which can convert amx operations
// too, does not convert AMX tiles that loops carry, so this pass runs before loops are lowered to branches.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/Passes.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/AMX/Transforms.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"

namespace attune {
#define GEN_PASS_DEF_LOWERAMXTILES
#include "compiler/Target/CPU/Passes.h.inc"
} // namespace attune

using namespace mlir;

/// Returns true if |op| has no AMX tile as operand or result.
static bool hasNoTiles(Operation *op) {
  auto isTile = [](Type type) { return isa<amx::TileType>(type); };
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return llvm::none_of(loop.getResultTypes(), isTile);
  return llvm::none_of(op->getOperandTypes(), isTile) && llvm::none_of(op->getResultTypes(), isTile);
}

namespace {
struct LowerAmxTiles : attune::impl::LowerAmxTilesBase<LowerAmxTiles> {
  void runOnOperation() override {
    LLVMTypeConverter converter(&getContext());
    RewritePatternSet patterns(&getContext());
    LLVMConversionTarget target(getContext());
    populateAMXLegalizeForLLVMExportPatterns(converter, patterns);
    scf::populateSCFStructuralTypeConversions(converter, patterns);
    configureAMXLegalizeForExportTarget(target);
    target.addIllegalDialect<amx::AMXDialect>();
    target.addDynamicallyLegalDialect<scf::SCFDialect>(hasNoTiles);
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
