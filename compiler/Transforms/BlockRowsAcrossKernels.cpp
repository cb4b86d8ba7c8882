//===- BlockRowsAcrossKernels.cpp - Row blocking across kernels -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Row blocking across kernels. A projection writes rows that the next norm reads; for 4096 tokens these rows have left
// every cache by then. Each of these kernels computes row i of its results from row i of some arguments and from
// others, such as weights, as a whole. So all of them can run on one block of rows before the next block. A block is
// the rows of one step of a loop:
//
//   before   linear(x) -> a;  norm(a) -> b;  linear(b) -> y             a, b: all rows, through memory
//   after    for i in 0, step, 2 step, ...                              step: up to `rows` rows for each worker
//              linear(x[i]) -> a';  norm(a') -> b';  linear(b') -> y[i] x[i], y[i]: rows i to i + step - 1
//                                                                       a', b': rows of one block, in the L2 cache
//
//              x           a'          b'          y
//   block 0    [####] -->  [####] -->  [####] -->  [####]
//   block 1    [####] -->   same  -->   same  -->  [####]
//   block 2    [##]   -->   same  -->   same  -->  [##]
//
// Sequences (RowBlockedCalls.cpp). A call uses a buffer by rows if it passes the buffer for an argument with
// `tile.rows`, else as a whole. The calls of a sequence are in one basic block, and no operation between them accesses
// memory. Each call after the first uses by rows a buffer that an earlier call uses by rows, which makes their row
// counts equal. No buffer is used by rows in one call and as a whole, or through another view, in another. A sequence
// without a private buffer is left as it is: blocking would keep nothing in cache.
//
// Buffers. A private buffer, which has no users outside of the sequence, shrinks to the rows of one block. Other
// buffers are sliced. A buffer whose first use is in the sequence may take over the memory of one that is not private
// and whose last use is an earlier call: the rows of a block have been read when they are overwritten, and no later
// block reads them.
//
// Expects bufferized functions, and kernels with arguments that are marked by `tile.rows`. Leaves loops over blocks of
// rows around the same calls. The kernels then accept arguments that start at any row (`offset: ?`), and all calls of
// these kernels cast their operands to the new types.
//
// Invariants. Kernels compute the same bits for a row, whichever block it is in. No argument that a function writes
// overlaps another argument: bufferization guarantees it for private functions, and the C interface requires it of
// callers of entries.
//
// Cost. Weights are read once for each block, and each kernel of each block ends with a barrier of the workers. So few
// rows, which make one block, cost what they cost without the pass. docs/measurements.md has timings, also with blocks
// of 64, 96 and 256 rows.
//
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/BufferTypes.h"
#include "compiler/Transforms/Passes.h"
#include "compiler/Transforms/RowBlockedCalls.h"
#include "compiler/Transforms/RowWise.h"
#include "compiler/Transforms/TileSizes.h"
#include "dialect/Rt/IR/RtOps.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/OpRemark.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringExtras.h"

namespace attune {
#define GEN_PASS_DEF_BLOCKROWSACROSSKERNELS
#include "compiler/Transforms/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

namespace {
struct BlockRowsAcrossKernels : attune::impl::BlockRowsAcrossKernelsBase<BlockRowsAcrossKernels> {
  using BlockRowsAcrossKernelsBase::BlockRowsAcrossKernelsBase;
  void runOnOperation() override;

private:
  Value getStep(RewriterBase &rewriter, Location loc, Value count);
  void rewrite(RewriterBase &rewriter, RowBlockedCalls &sequence);
};
} // namespace

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Returns |type| with a dynamic offset.
static MemRefType getSliceType(MemRefType type) {
  auto [strides, offset] = type.getStridesAndOffset();
  auto layout = StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, strides);
  return MemRefType::get(type.getShape(), type.getElementType(), layout, type.getMemorySpace());
}

/// Returns types with a dynamic offset for the arguments of |kernel| with `tile.rows` and for their views. Returns
/// nullopt if the kernel has no such argument, has results, has a static number of rows, or uses a buffer in a way that
/// may depend on the offset.
static std::optional<BufferTypes> getSliceTypes(func::FuncOp kernel) {
  // A call becomes one call for each block of rows, so there is no single result to replace the old one.
  if (kernel.getNumResults() != 0)
    return std::nullopt;
  BufferTypes types([](func::CallOp, unsigned, MemRefType) { return false; });
  bool byRows = false;
  for (BlockArgument argument : kernel.isExternal() ? ArrayRef<BlockArgument>() : kernel.getArguments()) {
    bool isByRows = kernel.getArgAttr(argument.getArgNumber(), tiles::kRowsAttr) != nullptr;
    auto type = isByRows ? dyn_cast<MemRefType>(argument.getType()) : MemRefType();
    if (isByRows &&
        (!type || type.getRank() == 0 || !type.isDynamicDim(0) || !type.isStrided() || !types.add(argument, getSliceType(type))))
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

static constexpr llvm::StringLiteral kBlockRowsAcrossKernelsName = "attune-block-rows-across-kernels";

/// Returns true if |kernel| has arguments with `tile.rows`.
static bool hasRows(func::FuncOp kernel) {
  return llvm::any_of(llvm::seq(kernel.getNumArguments()),
                      [&](unsigned argument) { return kernel.getArgAttr(argument, tiles::kRowsAttr) != nullptr; });
}

/// Reports that |calls| run one after the other on each block of rows.
static void report(ArrayRef<func::CallOp> calls) {
  if (!xfmr::recordsRemarks(calls.front()))
    return;
  std::string names = llvm::join(llvm::map_range(calls, [](func::CallOp call) { return call.getCallee(); }), ", ");
  for (func::CallOp call : calls)
    remark::passed(call.getLoc(), xfmr::remarkOn(call, kBlockRowsAcrossKernelsName, "BlockRows").function(call.getCallee()))
        << remark::add("the kernels {0} run one after the other for a block of rows before the next block", names);
}

//===----------------------------------------------------------------------===//
// Loops over blocks of rows
//===----------------------------------------------------------------------===//

/// Returns the number of rows of one step of a loop over |count| rows: the rows of one block, times the number of
/// workers. The block has as many rows as attune-tile-groups gives a block of a projection that `block-bytes` does not
/// limit.
Value BlockRowsAcrossKernels::getStep(RewriterBase &rewriter, Location loc, Value count) {
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(rewriter, loc, value); };
  Value some = arith::MaxUIOp::create(rewriter, loc, count, constant(1));
  Value tiles = arith::CeilDivUIOp::create(rewriter, loc, divideEvenly(rewriter, loc, some, rows), constant(multiple));
  Value whole = arith::MulIOp::create(rewriter, loc, tiles, constant(multiple));
  Value each = arith::MinUIOp::create(rewriter, loc, whole, constant(rows));
  return arith::MulIOp::create(rewriter, loc, each, rt::WorkerCountOp::create(rewriter, loc));
}

/// Returns rows |first| ... |first| + |count| - 1 of |buffer|.
static Value takeRows(OpBuilder &builder, Location loc, Value buffer, Value first, Value count) {
  int64_t rank = cast<MemRefType>(buffer.getType()).getRank();
  SmallVector<OpFoldResult> offsets(rank, builder.getIndexAttr(0)), strides(rank, builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = memref::getMixedSizes(builder, loc, buffer);
  offsets.front() = first;
  sizes.front() = count;
  return memref::SubViewOp::create(builder, loc, buffer, offsets, sizes, strides);
}

void BlockRowsAcrossKernels::rewrite(RewriterBase &rewriter, RowBlockedCalls &sequence) {
  Location loc = sequence.calls.front().getLoc();
  rewriter.setInsertionPoint(sequence.calls.back());
  sequence.reuseRows();
  Value any = sequence.rows.front().first;
  memref::AllocOp local = sequence.getPrivateAlloc(any);
  Value count = local ? local.getDynamicSizes().front() : memref::DimOp::create(rewriter, loc, any, 0).getResult();
  Value step = getStep(rewriter, loc, count);
  auto loop = scf::ForOp::create(rewriter, loc, arith::ConstantIndexOp::create(rewriter, loc, 0), count, step);
  rewriter.setInsertionPointToStart(loop.getBody());
  Value first = loop.getInductionVar();
  Value size = arith::MinUIOp::create(rewriter, loc, step, arith::SubIOp::create(rewriter, loc, count, first));

  IRMapping blocks;
  SmallVector<memref::AllocOp> replaced;
  for (auto [buffer, use] : sequence.rows) {
    memref::AllocOp alloc = sequence.getPrivateAlloc(buffer);
    if (!alloc) {
      blocks.map(buffer, takeRows(rewriter, loc, buffer, first, size));
      continue;
    }
    SmallVector<Value> sizes = llvm::to_vector(alloc.getDynamicSizes());
    sizes.front() = size;
    blocks.map(buffer, memref::AllocOp::create(rewriter, loc, alloc.getType(), sizes, alloc.getAlignmentAttr()).getResult());
    replaced.push_back(alloc);
  }
  for (func::CallOp call : sequence.calls) {
    rewriter.clone(*call, blocks);
    rewriter.eraseOp(call);
  }
  for (memref::AllocOp alloc : replaced) {
    for (Operation *dim : llvm::make_early_inc_range(alloc->getUsers()))
      rewriter.replaceOp(dim, alloc.getDynamicSizes().front());
    rewriter.eraseOp(alloc);
  }
}

void BlockRowsAcrossKernels::runOnOperation() {
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
  for (auto &[kernel, types] : kernels)
    if (tiles::KernelAttr description = tiles::getKernel(kernel); description && !types)
      xfmr::missed(kernel, kBlockRowsAcrossKernelsName, "BlockRows")
          << remark::metric(xfmr::kRemarkKernel, description.getText())
          << remark::reason("{0}", description.getRowWise() || hasRows(cast<func::FuncOp>(kernel))
                                       ? "a buffer by rows has a static number of rows, or its use depends on the offset"
                                       : "its operands are not known to be read row by row, for as many rows as its results have");
  SymbolTableCollection symbols;
  IRRewriter rewriter(&getContext());
  llvm::SetVector<Operation *> blocked;
  for (auto function : getOperation().getOps<func::FuncOp>())
    for (ArrayRef<func::CallOp> calls :
         findRowBlockedCalls(function, symbols, [&](func::FuncOp kernel) { return kernels[kernel].has_value(); })) {
      RowBlockedCalls sequence;
      auto kernelOf = [&](func::CallOp call) { return symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr()); };
      if (!llvm::all_of(calls, [&](func::CallOp call) { return sequence.add(call, kernelOf(call)); }))
        continue;
      for (func::CallOp call : calls)
        blocked.insert(kernelOf(call));
      report(calls);
      rewrite(rewriter, sequence);
    }
  for (Operation *kernel : blocked)
    kernels[kernel]->apply();
  getOperation().walk([&](func::CallOp call) {
    auto kernel = symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    if (blocked.contains(kernel))
      castOperands(rewriter, call, kernel);
  });
}
