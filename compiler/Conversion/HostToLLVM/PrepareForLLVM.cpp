//===- PrepareForLLVM.cpp - Removal of ops that become library calls ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Compiled objects may call memcpy, memmove and memset, and no other function of a library. This pass expands copies
// from or to buffers whose layout is not the identity, for which upstream calls a runtime function. It also expands
// divisions that round up or down, and views that upstream cannot lower. It rejects heap allocations, and operations
// that would become calls of libm.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/HostToLLVM/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace attune {
#define GEN_PASS_DEF_PREPAREFORLLVM
#include "compiler/Conversion/HostToLLVM/Passes.h.inc"
} // namespace attune

using namespace mlir;

/// The number of elements of a row that are copied at a time.
static constexpr int64_t kLanes = 16;

namespace {

Value constant(OpBuilder &builder, Location loc, int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }

void enterLoop(OpBuilder &builder, Location loc, Value begin, Value end, int64_t step, SmallVectorImpl<Value> &indices) {
  auto loop = scf::ForOp::create(builder, loc, begin, end, constant(builder, loc, step));
  builder.setInsertionPointToStart(loop.getBody());
  indices.push_back(loop.getInductionVar());
}

/// Expands a copy into loops, unless both layouts are the identity: by vectors if rows are contiguous on both sides and
/// elements are whole bytes, else element by element.
LogicalResult expandCopy(memref::CopyOp copy, PatternRewriter &rewriter) {
  auto source = cast<MemRefType>(copy.getSource().getType()), target = cast<MemRefType>(copy.getTarget().getType());
  if (source.getLayout().isIdentity() && target.getLayout().isIdentity())
    return failure(); // a memcpy
  Location loc = copy.getLoc();
  SmallVector<Value> indices, sizes;
  int64_t rank = source.getRank();
  for (int64_t dim = 0; dim != rank; ++dim)
    sizes.push_back(rewriter.createOrFold<memref::DimOp>(loc, target.isDynamicDim(dim) ? copy.getSource() : copy.getTarget(), dim));
  Value zero = constant(rewriter, loc, 0);
  for (int64_t dim = 0; dim + 1 < rank; ++dim)
    enterLoop(rewriter, loc, zero, sizes[dim], 1, indices);
  // Elements of a vector of i1 or i4 are packed, those of a buffer have bytes of their own.
  Type element = source.getElementType();
  bool isPacked = element.isIntOrFloat() && element.getIntOrFloatBitWidth() % 8 != 0;
  bool isRow = VectorType::isValidElementType(element) && !isPacked && source.isLastDimUnitStride() && target.isLastDimUnitStride();
  if (rank > 0 && isRow) {
    Value whole = rewriter.createOrFold<arith::DivUIOp>(loc, sizes.back(), constant(rewriter, loc, kLanes));
    whole = rewriter.createOrFold<arith::MulIOp>(loc, whole, constant(rewriter, loc, kLanes));
    {
      OpBuilder::InsertionGuard guard(rewriter);
      SmallVector<Value> inner = indices;
      enterLoop(rewriter, loc, zero, whole, kLanes, inner);
      auto type = VectorType::get({kLanes}, element);
      Value row = vector::LoadOp::create(rewriter, loc, type, copy.getSource(), inner);
      vector::StoreOp::create(rewriter, loc, row, copy.getTarget(), inner);
    }
    zero = whole; // the rest of the row
  }
  if (rank > 0)
    enterLoop(rewriter, loc, zero, sizes.back(), 1, indices);
  Value value = memref::LoadOp::create(rewriter, loc, copy.getSource(), indices);
  memref::StoreOp::create(rewriter, loc, value, copy.getTarget(), indices);
  rewriter.eraseOp(copy);
  return success();
}

/// Replaces a view that splits one dimension into several of dynamic size by a reinterpret_cast:
/// `expand-strided-metadata` of MLIR 22.1 crashes on such a view.
LogicalResult expandDynamicSplit(memref::ExpandShapeOp op, PatternRewriter &rewriter) {
  bool affected = llvm::any_of(op.getReassociationIndices(), [&](const ReassociationIndices &group) {
    return llvm::count_if(group, [&](int64_t dim) { return op.getResultType().isDynamicDim(dim); }) > 1;
  });
  if (!affected)
    return failure();
  Location loc = op.getLoc();
  auto source = memref::ExtractStridedMetadataOp::create(rewriter, loc, op.getSrc());
  SmallVector<OpFoldResult> sizes = op.getMixedOutputShape(), strides(sizes.size());
  for (auto [group, stride] : llvm::zip(op.getReassociationIndices(), source.getConstifiedMixedStrides())) {
    OpFoldResult step = stride;
    for (int64_t dim : llvm::reverse(group)) {
      strides[dim] = step;
      std::optional<int64_t> fixed = getConstantIntValue(step), size = getConstantIntValue(sizes[dim]);
      if (fixed && size)
        step = rewriter.getIndexAttr(*fixed * *size);
      else
        step = arith::MulIOp::create(rewriter, loc, getValueOrCreateConstantIndexOp(rewriter, loc, step),
                                     getValueOrCreateConstantIndexOp(rewriter, loc, sizes[dim]))
                   .getResult();
    }
  }
  rewriter.replaceOpWithNewOp<memref::ReinterpretCastOp>(op, op.getResultType(), source.getBaseBuffer(), source.getConstifiedMixedOffset(),
                                                         sizes, strides);
  return success();
}

struct PrepareForLLVM : attune::impl::PrepareForLLVMBase<PrepareForLLVM> {
  void runOnOperation() override;
};

} // namespace

/// Fails, with an error, if the code for |op| would allocate or free heap memory, or call a function of libm.
static LogicalResult checkNeedsNoLibrary(Operation *op) {
  if (isa<memref::AllocOp, memref::DeallocOp, memref::ReallocOp>(op))
    return op->emitError("compiled code must not allocate; 'attune-plan-memory' places buffers in the workspace");
  bool isInstruction = isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::FloorOp, math::TruncOp, math::RoundEvenOp, math::FmaOp,
                           math::SqrtOp, math::CopySignOp, math::CountLeadingZerosOp, math::CountTrailingZerosOp, math::CtPopOp,
                           math::IsNaNOp, math::IsInfOp, math::IsFiniteOp>(op);
  if (isa<arith::RemFOp>(op) || (isa<math::MathDialect>(op->getDialect()) && !isInstruction))
    return op->emitError("would become a call of libm; 'attune-expand-math' makes instructions of the functions it knows");
  return success();
}

void PrepareForLLVM::runOnOperation() {
  WalkResult walk = getOperation().walk([](Operation *op) -> WalkResult { return checkNeedsNoLibrary(op); });
  if (walk.wasInterrupted())
    return signalPassFailure();
  RewritePatternSet patterns(&getContext());
  patterns.add(expandCopy).add(expandDynamicSplit);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  // A walk rather than the greedy driver: the driver also folds, and would rewrite vector operations that earlier
  // passes chose for the instructions they become.
  walkAndApplyPatterns(getOperation(), std::move(patterns));
}
