//===- VectorizeTiles.cpp - Vector code for linalg tiles on buffers -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects linalg ops, `tile.grouped_product` and `memref.copy` on buffers after memory planning. Leaves scf loops over
// vectors of 16 lanes; a linalg op without a vector form becomes scalar loops, with a remark that gives the reason.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/VectorizeTiles.h"
#include "compiler/Target/CPU/GroupedProduct.h"
#include "compiler/Target/CPU/LowPrecisionContraction.h"
#include "compiler/Target/CPU/Passes.h"
#include "dialect/Xfmr/IR/OpRemark.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"

namespace attune {
#define GEN_PASS_DEF_VECTORIZETILES
#include "compiler/Target/CPU/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

static constexpr llvm::StringLiteral kVectorizeTilesName = "attune-vectorize-tiles";

namespace {
struct VectorizeTiles : attune::impl::VectorizeTilesBase<VectorizeTiles> {
  using VectorizeTilesBase::VectorizeTilesBase;

  void runOnOperation() override {
    if (!llvm::isPowerOf2_64(prefetchStreams) || prefetchStreams < 1 || prefetchAhead < 0) {
      getOperation()->emitError("expects prefetch-streams to be a power of two and prefetch-ahead not to be negative, but got ")
          << prefetchStreams.getValue() << " and " << prefetchAhead.getValue();
      return signalPassFailure();
    }
    const rt::RangedValue fields[] = {{"register-rows", registerRows, rt::FieldRange::TileRows},
                                      {"low-precision-rows", lowPrecisionRows, rt::FieldRange::PowerOfTwo},
                                      {"grouped-rows", groupedRows, rt::FieldRange::TileRows}};
    if (failed(rt::verifyRanges([&] { return getOperation()->emitError(); }, fields)))
      return signalPassFailure();
    copiesToLinalg();
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    SmallVector<tiles::GroupedProductOp> products;
    getOperation()->walk([&](tiles::GroupedProductOp op) { products.push_back(op); });
    WalkResult walk = getOperation()->walk([](Operation *op) {
      auto loops = dyn_cast<linalg::LinalgOp>(op);
      auto product = dyn_cast<tiles::GroupedProductOp>(op);
      if ((!loops || loops.hasPureBufferSemantics()) && (!product || isa<MemRefType>(product.getDestination().getType())))
        return WalkResult::advance();
      op->emitError("expects buffers, but has tensor operands");
      return WalkResult::interrupt();
    });
    if (walk.wasInterrupted())
      return signalPassFailure();
    PrefetchPlan plan{prefetchStreams, prefetchAhead};
    llvm::SmallPtrSet<Operation *, 8> done;
    for (tiles::GroupedProductOp op : products) {
      linalg::LinalgOp epilogue = findEpilogue(op);
      VectorBuilder builder(op.getLoc(), epilogue ? epilogue.getOperation() : op.getOperation());
      bool quantized = op.hasQuantizedRows();
      const char *reason = quantized ? vectorizeGroupedProduct(builder, op, epilogue, groupedRows, getByteUnit(dotUnit, vnni), plan)
                                     : vectorizeGroupedFloatProduct(builder, op, epilogue, registerRows, dotUnit, plan);
      if (reason) {
        op->emitError("cannot be vectorized: ") << reason;
        return signalPassFailure();
      }
      std::string type = quantized ? "int8" : getElementTypeOrSelf(op.getRows()).isBF16() ? "bf16" : "f32";
      xfmr::passed(op, kVectorizeTilesName, "VectorizeProduct")
          << remark::add("{0} products with scales of groups, in register tiles of {1} rows{2}", type,
                         (quantized ? groupedRows : registerRows).getValue(), epilogue ? ", with the epilogue" : "");
      if (epilogue)
        done.insert(epilogue);
      op.erase();
    }
    // Contractions first, because each includes the fill before it and the epilogue after it.
    for (linalg::LinalgOp op : ops)
      if (auto tile = matchContraction(op)) {
        VectorBuilder builder(op.getLoc(), tile->epilogue ? tile->epilogue : op);
        const char *reason = isLowPrecisionContraction(op) ? vectorizeLowPrecision(builder, *tile, lowPrecisionRows, dotUnit, plan)
                                                           : vectorizeContraction(builder, *tile, registerRows, plan);
        if (reason) {
          missed(op, reason);
          continue;
        }
        reportContraction(*tile);
        for (Operation *part :
             {tile->fill.getOperation(), tile->contraction.getOperation(), tile->epilogue ? tile->epilogue.getOperation() : nullptr})
          if (part)
            done.insert(part);
      }
    for (linalg::LinalgOp op : ops) {
      if (!done.contains(op) && failed(rows(rewriter, op)))
        return signalPassFailure();
    }
    for (linalg::LinalgOp op : llvm::reverse(ops))
      rewriter.eraseOp(op);
  }

private:
  LogicalResult rows(IRRewriter &rewriter, linalg::LinalgOp op) {
    rewriter.setInsertionPoint(op);
    VectorBuilder builder(op.getLoc(), op);
    const char *reason = vectorizeRows(builder, op);
    if (!reason) {
      xfmr::passed(op, kVectorizeTilesName, "VectorizeRows")
          << remark::add("vectors of {0} lanes along the last loop", VectorBuilder::kLanes);
      return success();
    }
    missed(op, reason);
    return failed(linalg::linalgOpToLoops(rewriter, op)) ? op->emitError("cannot be lowered to loops") : LogicalResult(success());
  }

  static void missed(linalg::LinalgOp op, const char *reason) {
    xfmr::missed(op, kVectorizeTilesName, "Vectorize") << remark::reason("scalar loops: {0}", reason);
  }

  /// Reports the register tile of |tile| and its prefetches.
  void reportContraction(const ContractionTile &tile) {
    linalg::LinalgOp op = tile.contraction;
    bool isLow = isLowPrecisionContraction(op);
    xfmr::passed(op, kVectorizeTilesName, "VectorizeProduct")
        << remark::add("{0} products in register tiles of {1} rows{2}", isLow ? "low-precision" : "f32",
                       isLow ? lowPrecisionRows.getValue() : registerRows.getValue(), tile.epilogue ? ", with the epilogue" : "");
    if (prefetchAhead > 0 && prefetchStreams == 1)
      xfmr::passed(op, kVectorizeTilesName, "PrefetchPanels")
          << remark::add("weights are prefetched {0} bytes ahead in one stream", prefetchAhead.getValue());
    else
      xfmr::passed(op, kVectorizeTilesName, "PrefetchPanels")
          << remark::add("shares of the next panel are prefetched in {0} streams", prefetchStreams.getValue());
  }

  /// Turns copies between buffers into linalg ops, so that none becomes a call.
  void copiesToLinalg() {
    getOperation()->walk([](memref::CopyOp copy) {
      OpBuilder builder(copy);
      linalg::CopyOp::create(builder, copy.getLoc(), copy.getSource(), copy.getTarget());
      copy.erase();
    });
  }
};
} // namespace
