//===- ChainKernels.cpp - Kernels one after the other, by rows ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects bufferized functions and kernels with their `tile.rows`. Chains of calls become loops over blocks of rows around the same calls;
// the buffers between them are those of a block. Kernels get arguments that may start anywhere, and calls outside of chains casts to their
// types.
//
// Relies on what bufferization gives private functions, and the C interface asks of callers of entries: what a function writes is none of
// its other arguments.
//
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/BufferTypes.h"
#include "compiler/Transforms/KernelChain.h"
#include "compiler/Transforms/Passes.h"
#include "compiler/Transforms/RowWise.h"
#include "compiler/Transforms/TileSizes.h"
#include "dialect/Rt/IR/RtOps.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"

namespace attune {
#define GEN_PASS_DEF_CHAINKERNELS
#include "compiler/Transforms/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

namespace {
struct ChainKernels : attune::impl::ChainKernelsBase<ChainKernels> {
  using ChainKernelsBase::ChainKernelsBase;
  void runOnOperation() override;

private:
  Value getStep(RewriterBase &rewriter, Location loc, Value count);
  void rewrite(RewriterBase &rewriter, KernelChain &chain);
};
} // namespace

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// |type| with any offset.
static MemRefType getSliceType(MemRefType type) {
  auto [strides, offset] = type.getStridesAndOffset();
  auto layout = StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, strides);
  return MemRefType::get(type.getShape(), type.getElementType(), layout, type.getMemorySpace());
}

/// The types for which the arguments of |kernel| by rows may start anywhere; nullopt if it is not row-wise or has results, if they cannot,
/// or if their number of rows is static.
static std::optional<BufferTypes> getSliceTypes(func::FuncOp kernel) {
  // A call becomes one for each block of rows, whose results would be others.
  if (kernel.getNumResults() != 0)
    return std::nullopt;
  BufferTypes types([](func::CallOp, unsigned, MemRefType) { return false; });
  bool byRows = false;
  for (BlockArgument argument : kernel.isExternal() ? ArrayRef<BlockArgument>() : kernel.getArguments()) {
    bool isByRows = kernel.getArgAttr(argument.getArgNumber(), tiles::kRowsAttr) != nullptr;
    auto type = isByRows ? dyn_cast<MemRefType>(argument.getType()) : MemRefType();
    if (isByRows && (!type || type.getRank() == 0 || !type.isDynamicDim(0) || !type.isStrided() || !types.add(argument, getSliceType(type))))
      return std::nullopt;
    byRows |= isByRows;
  }
  return byRows ? std::optional(std::move(types)) : std::nullopt;
}

/// Casts the operands of |call| to the types of |kernel|'s arguments.
static void castOperands(OpBuilder &builder, func::CallOp call, func::FuncOp kernel) {
  builder.setInsertionPoint(call);
  for (OpOperand &operand : call->getOpOperands())
    if (Type type = kernel.getArgumentTypes()[operand.getOperandNumber()]; operand.get().getType() != type)
      operand.set(memref::CastOp::create(builder, call.getLoc(), type, operand.get()));
}

//===----------------------------------------------------------------------===//
// Chains
//===----------------------------------------------------------------------===//

/// As many rows for each worker as the kernels would have in one of their own blocks.
Value ChainKernels::getStep(RewriterBase &rewriter, Location loc, Value count) {
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(rewriter, loc, value); };
  Value some = arith::MaxUIOp::create(rewriter, loc, count, constant(1));
  Value tiles = arith::CeilDivUIOp::create(rewriter, loc, divideEvenly(rewriter, loc, some, rows), constant(multiple));
  Value whole = arith::MulIOp::create(rewriter, loc, tiles, constant(multiple));
  Value each = arith::MinUIOp::create(rewriter, loc, whole, constant(rows));
  return arith::MulIOp::create(rewriter, loc, each, rt::WorkerCountOp::create(rewriter, loc));
}

/// Rows |first| to |first| + |count| of |buffer|.
static Value takeRows(OpBuilder &builder, Location loc, Value buffer, Value first, Value count) {
  int64_t rank = cast<MemRefType>(buffer.getType()).getRank();
  SmallVector<OpFoldResult> offsets(rank, builder.getIndexAttr(0)), strides(rank, builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = memref::getMixedSizes(builder, loc, buffer);
  offsets.front() = first;
  sizes.front() = count;
  return memref::SubViewOp::create(builder, loc, buffer, offsets, sizes, strides);
}

void ChainKernels::rewrite(RewriterBase &rewriter, KernelChain &chain) {
  Location loc = chain.calls.front().getLoc();
  rewriter.setInsertionPoint(chain.calls.back());
  chain.reuseRows();
  Value any = chain.rows.front().first;
  memref::AllocOp local = chain.getLocal(any);
  Value count = local ? local.getDynamicSizes().front() : memref::DimOp::create(rewriter, loc, any, 0).getResult();
  Value step = getStep(rewriter, loc, count);
  auto loop = scf::ForOp::create(rewriter, loc, arith::ConstantIndexOp::create(rewriter, loc, 0), count, step);
  rewriter.setInsertionPointToStart(loop.getBody());
  Value first = loop.getInductionVar();
  Value size = arith::MinUIOp::create(rewriter, loc, step, arith::SubIOp::create(rewriter, loc, count, first));

  IRMapping blocks;
  SmallVector<memref::AllocOp> replaced;
  for (auto [buffer, use] : chain.rows) {
    memref::AllocOp alloc = chain.getLocal(buffer);
    if (!alloc) {
      blocks.map(buffer, takeRows(rewriter, loc, buffer, first, size));
      continue;
    }
    SmallVector<Value> sizes = llvm::to_vector(alloc.getDynamicSizes());
    sizes.front() = size;
    blocks.map(buffer, memref::AllocOp::create(rewriter, loc, alloc.getType(), sizes, alloc.getAlignmentAttr()).getResult());
    replaced.push_back(alloc);
  }
  for (func::CallOp call : chain.calls) {
    rewriter.clone(*call, blocks);
    rewriter.eraseOp(call);
  }
  for (memref::AllocOp alloc : replaced) {
    for (Operation *dim : llvm::make_early_inc_range(alloc->getUsers()))
      rewriter.replaceOp(dim, alloc.getDynamicSizes().front());
    rewriter.eraseOp(alloc);
  }
}

void ChainKernels::runOnOperation() {
  if (rows == 0)
    return;
  if (rows < 0 || multiple < 1) {
    getOperation().emitError("expects rows not to be negative and multiple to be at least 1, but got ")
        << rows.getValue() << " and " << multiple.getValue();
    return signalPassFailure();
  }
  llvm::MapVector<Operation *, std::optional<BufferTypes>> kernels;
  for (auto function : getOperation().getOps<func::FuncOp>())
    kernels.insert({function, getSliceTypes(function)});
  SymbolTableCollection symbols;
  IRRewriter rewriter(&getContext());
  llvm::SetVector<Operation *> chained;
  for (auto function : getOperation().getOps<func::FuncOp>())
    for (ArrayRef<func::CallOp> calls :
         findKernelChains(function, symbols, [&](func::FuncOp kernel) { return kernels[kernel].has_value(); })) {
      KernelChain chain;
      auto kernelOf = [&](func::CallOp call) { return symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr()); };
      if (!llvm::all_of(calls, [&](func::CallOp call) { return chain.add(call, kernelOf(call)); }))
        continue;
      for (func::CallOp call : calls)
        chained.insert(kernelOf(call));
      rewrite(rewriter, chain);
    }
  for (Operation *kernel : chained)
    kernels[kernel]->apply();
  getOperation().walk([&](func::CallOp call) {
    auto kernel = symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    if (chained.contains(kernel))
      castOperands(rewriter, call, kernel);
  });
}
