//===- CountKernelWork.cpp - Work of each kernel of an entry --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects kernels in destination-passing style, as `attune-outline-kernels` leaves them, and `tile.work` on the calls
// of kernels that compute products or use caches. Sets the attribute `rt.kernel_work` of the entries whose work follows
// from their dims, removes `tile.work` from the calls, and changes nothing else.
//
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/Passes.h"
#include "compiler/Transforms/Work.h"
#include "dialect/Rt/IR/RtAttrs.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "dialect/Xfmr/IR/OpRemark.h"
#include "dialect/Xfmr/IR/XfmrOps.h"

namespace attune {
#define GEN_PASS_DEF_COUNTKERNELWORK
#include "compiler/Transforms/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

namespace {

/// The work of all calls of one kernel in a call of a function, in terms of the function's symbols.
struct Work {
  int64_t calls = 0;
  SizeExpr flops, weightBytes, tensorBytes;
};
using WorkByKernel = llvm::MapVector<Operation *, Work>;

struct CountKernelWork : attune::impl::CountKernelWorkBase<CountKernelWork> {
  CountKernelWork() = default;
  /// Copies the options and none of the counts.
  CountKernelWork(const CountKernelWork &other) : CountKernelWorkBase(other) {}
  void runOnOperation() override;

private:
  using Count = std::optional<SizeExpr>;
  Count bytesRead(BlockArgument argument);
  bool addKernelCall(func::CallOp call, func::FuncOp kernel, Work &work);
  bool addCall(func::CallOp call, WorkByKernel &result);
  const std::optional<WorkByKernel> &workOf(func::FuncOp function);

  SymbolTableCollection symbols;
  DimBounds bounds;
  DenseMap<Operation *, std::optional<WorkByKernel>> known;
  DenseMap<Value, Count> read;
};

} // namespace

/// Returns true if |value| is a weight, or an argument for which calls pass weights.
static bool isWeight(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    return function && xfmr::isMarkedWeight(function, argument.getArgNumber());
  }
  return value.getDefiningOp<xfmr::WeightRefOp>() != nullptr;
}

/// Returns true if |argument| of a kernel is the mask of its attention.
static bool isMask(BlockArgument argument) {
  return llvm::any_of(argument.getUsers(), [](Operation *user) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    return slice && llvm::any_of(slice->getUsers(), [&](Operation *reader) {
             auto tile = dyn_cast<tiles::AttentionTileOp>(reader);
             return tile && tile.getMask() == slice.getResult();
           });
  });
}

/// Returns true if |argument| of a kernel that uses a key cache and a value cache is one of the two. Key caches have
/// five dimensions, value caches four. Caches are the destinations of a kernel that updates them, and inputs of other
/// kernels.
static bool isCache(BlockArgument argument) {
  auto hasRank = [](Type type, int64_t least) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getRank() >= least;
  };
  auto kernel = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  bool isResult = argument.getArgNumber() + kernel.getNumResults() >= kernel.getNumArguments();
  bool updates = llvm::any_of(kernel.getResultTypes(), [&](Type type) { return hasRank(type, 5); });
  return hasRank(argument.getType(), 4) && isResult == updates && !isMask(argument);
}

/// Returns the bytes of |rows| rows of the table of |op|; nullopt if |rows| or the length of a row is not known.
static std::optional<SizeExpr> countTableRows(tiles::RotaryTileOp op, const std::optional<SizeExpr> &rows) {
  auto table = cast<ShapedType>(op.getTable().getType());
  if (!rows || table.isDynamicDim(1))
    return std::nullopt;
  return *rows * SizeExpr(table.getDimSize(1) * llvm::divideCeil(table.getElementTypeBitWidth(), 8));
}

/// Returns the bytes of |rows| elements of the vector from which |op| extracts an element; nullopt if |rows| is
/// nullopt.
static std::optional<SizeExpr> countVectorElements(tensor::ExtractOp op, const std::optional<SizeExpr> &rows) {
  int64_t bits = op.getTensor().getType().getElementTypeBitWidth();
  return rows ? std::optional(*rows * SizeExpr(llvm::divideCeil(bits, 8))) : std::nullopt;
}

/// Returns the bytes that a kernel reads of |argument|, in terms of the kernel's arguments; nullopt if the number does
/// not follow from these. The bytes are
/// - of a table that is looked up element by element (an embedding), those of as many elements as the result has;
/// - of a vector that is looked up (the scales of an embedding's rows), those of one element for each row of the
///   result;
/// - of a table of rotary embeddings, those of one row for each row of the result;
/// - else those of the slices that the kernel takes before its loop, or all bytes if it uses |argument| otherwise.
/// If all bytes are provably not more than these, they count instead.
CountKernelWork::Count CountKernelWork::bytesRead(BlockArgument argument) {
  if (auto it = read.find(argument); it != read.end())
    return it->second;
  auto kernel = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  Count whole = countBytes(argument, bounds), parts = SizeExpr(0);
  Value result = kernel.getArguments().back();
  std::optional<Count> lookups;
  for (Operation *user : argument.getUsers()) {
    if (isa<tensor::DimOp>(user))
      continue;
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    auto rotary = dyn_cast<tiles::RotaryTileOp>(user);
    Count part = SizeExpr(0);
    auto looked = dyn_cast<tensor::ExtractOp>(user);
    if (looked && looked.getTensor().getType().getRank() > 1)
      lookups = countBytes(result, bounds, looked.getTensor().getType().getElementType());
    else if (looked && looked.getTensor().getType().hasStaticShape())
      lookups = countVectorElements(looked, bounds.getDim(result, 0));
    else if (rotary && rotary.getTable() == argument)
      lookups = countTableRows(rotary, bounds.getDim(result, 0));
    else
      part = slice && slice->getParentOp() == kernel ? countBytes(slice.getResult(), bounds) : whole;
    parts = parts && part ? Count(*parts + *part) : std::nullopt;
  }
  if (lookups) {
    const Count &found = *lookups;
    parts = parts && found && whole ? Count(found->isAtMost(*whole) || !whole->isAtMost(*found) ? *found : *whole) : std::nullopt;
  }
  Count bytes = parts && whole && whole->isAtMost(*parts) ? whole : parts;
  return read[argument] = bytes;
}

/// Adds the work of |call| to |work|. Returns false if the work of the call does not follow from the caller's symbols;
/// |work| is then incomplete.
bool CountKernelWork::addKernelCall(func::CallOp call, func::FuncOp kernel, Work &work) {
  ++work.calls;
  auto known = call->getAttrOfType<tiles::WorkAttr>(tiles::kWorkAttr);
  if (known && known.getFlops())
    work.flops = work.flops + SizeExpr::fromFormula(known.getFlops());
  bool usesCaches = known && known.getCacheBytes();
  if (usesCaches)
    work.tensorBytes = work.tensorBytes + SizeExpr::fromFormula(known.getCacheBytes());
  unsigned inputs = kernel.getNumArguments() - kernel.getNumResults();
  for (auto [index, operand] : llvm::enumerate(call.getOperands())) {
    if (usesCaches && isCache(kernel.getArgument(index)))
      continue;
    Count inside = index < inputs ? bytesRead(kernel.getArgument(index)) : countBytes(kernel.getArgument(index), bounds);
    Count bytes = inside ? bounds.atCall(call, *inside) : std::nullopt;
    if (!bytes)
      return false;
    SizeExpr &sum = isWeight(operand) ? work.weightBytes : work.tensorBytes;
    sum = sum + *bytes;
  }
  return true;
}

/// Adds the work of the kernels that |call| runs to |result|, in terms of the caller's symbols. Returns false if a part
/// of this work does not follow from them; |result| is then incomplete.
bool CountKernelWork::addCall(func::CallOp call, WorkByKernel &result) {
  auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
  if (!callee || callee.isExternal())
    return true;
  if (tiles::getKernel(callee))
    return addKernelCall(call, callee, result[callee]);
  const std::optional<WorkByKernel> &inside = workOf(callee);
  if (!inside)
    return false;
  for (const auto &[kernel, work] : *inside) {
    Work &sum = result[kernel];
    sum.calls += work.calls;
    for (auto member : {&Work::flops, &Work::weightBytes, &Work::tensorBytes}) {
      Count here = bounds.atCall(call, work.*member);
      if (!here)
        return false;
      sum.*member = sum.*member + *here;
    }
  }
  return true;
}

/// Returns the work of all kernels that a call of |function| runs, in terms of the symbols of |function|; nullopt if it
/// does not follow from them.
const std::optional<WorkByKernel> &CountKernelWork::workOf(func::FuncOp function) {
  if (auto it = known.find(function); it != known.end())
    return it->second;
  known[function] = std::nullopt; // the work of a recursive function is not known
  WorkByKernel result;
  WalkResult walk =
      function.walk([&](func::CallOp call) { return addCall(call, result) ? WalkResult::advance() : WalkResult::interrupt(); });
  if (!walk.wasInterrupted())
    known[function] = std::move(result);
  return known[function];
}

void CountKernelWork::runOnOperation() {
  ModuleOp module = getOperation();
  for (auto entry : module.getOps<func::FuncOp>()) {
    if (!xfmr::getEntry(entry))
      continue;
    const std::optional<WorkByKernel> &kernels = workOf(entry);
    if (!kernels) {
      xfmr::missed(entry, "attune-count-kernel-work", "CountKernelWork")
          << remark::reason("the work of its kernels does not follow from its dims");
      continue;
    }
    SmallVector<Attribute> rows;
    for (auto kernel : module.getOps<func::FuncOp>()) {
      if (!tiles::getKernel(kernel))
        continue;
      Work work = kernels->lookup(kernel);
      auto formula = [&](const SizeExpr &size) { return size.toFormula(&getContext()); };
      rows.push_back(rt::KernelWorkAttr::get(&getContext(), kernel.getName(), work.calls, formula(work.flops), formula(work.weightBytes),
                                             formula(work.tensorBytes)));
    }
    entry->setAttr(rt::kKernelWorkAttr, ArrayAttr::get(&getContext(), rows));
  }
  module.walk([](func::CallOp call) { call->removeAttr(tiles::kWorkAttr); });
}
