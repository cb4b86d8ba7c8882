//===- PlanMemoryScopes.cpp - Lifetimes and slots of buffers --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/PlanMemoryScopes.h"
#include "dialect/Rt/IR/RtAttrs.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include <numeric>

using namespace mlir;
using namespace attune;

OperationOrder::OperationOrder(func::FuncOp function) {
  unsigned next = 0;
  auto visit = [&](auto &self, Operation *op) -> void {
    unsigned first = next++;
    for (Region &region : op->getRegions())
      for (Operation &nested : region.getOps())
        self(self, &nested);
    ranges[op] = {first, next - 1};
  };
  visit(visit, function);
}

//===----------------------------------------------------------------------===//
// Lifetimes
//===----------------------------------------------------------------------===//

/// Adds the values through which |use| forwards a buffer allocated by |alloc| to |aliases|: views, results of control
/// flow, loop-carried values. Fails, with an error, if the buffer leaves its loop iteration, or a region other than by
/// scf.yield.
static LogicalResult addAliases(OpOperand &use, Operation *alloc, llvm::SetVector<Value> &aliases) {
  Operation *user = use.getOwner();
  if (auto loop = dyn_cast<LoopLikeOpInterface>(user)) {
    if (BlockArgument argument = loop.getTiedLoopRegionIterArg(&use))
      aliases.insert(argument);
    if (OpResult result = loop.getTiedLoopResult(&use))
      aliases.insert(result);
    return success();
  }
  if (user->hasTrait<OpTrait::IsTerminator>()) {
    Operation *parent = user->getParentOp();
    bool leavesIteration = isa<LoopLikeOpInterface>(parent) && parent->isProperAncestor(alloc);
    if (!isa<scf::YieldOp>(user) || !isa<scf::IfOp, scf::ForOp, scf::IndexSwitchOp, scf::ExecuteRegionOp>(parent) || leavesIteration) {
      InFlightDiagnostic error = alloc->emitError("buffer must not leave the ")
                                 << (leavesIteration ? "loop iteration" : "region") << " it is allocated in";
      error.attachNote(user->getLoc()) << "it leaves here";
      return error;
    }
    aliases.insert(parent->getResult(use.getOperandNumber()));
    if (auto loop = dyn_cast<scf::ForOp>(parent)) // the next iteration may have the buffer in another position
      aliases.insert(loop.getRegionIterArgs()[use.getOperandNumber()]);
    return success();
  }
  for (Value result : user->getResults())
    if (isa<BaseMemRefType>(result.getType()))
      aliases.insert(result);
  return success();
}

/// Returns true if |user| may read or write the elements of a buffer, false if it only reads its shape, makes a view,
/// forwards the buffer as a loop or a terminator, or frees it.
static bool isAccess(Operation *user) {
  return !isMemoryEffectFree(user) && !isa<memref::DeallocOp, LoopLikeOpInterface>(user) && !user->hasTrait<OpTrait::IsTerminator>();
}

LogicalResult attune::computeLifetime(PlannedBuffer &buffer, const OperationOrder &order) {
  Operation *alloc = buffer.op;
  unsigned first = ~0u, last = 0;
  llvm::SetVector<Value> aliases;
  aliases.insert(alloc->getResult(0));
  for (unsigned i = 0; i != aliases.size(); ++i)
    for (OpOperand &use : aliases[i].getUses()) {
      if (failed(addAliases(use, alloc, aliases)))
        return failure();
      if (!isAccess(use.getOwner()))
        continue;
      // An access inside a loop extends over the whole loop if the buffer is allocated outside. A buffer that an
      // operation with regions, such as scf.if, yields lives from the beginning of that operation.
      Operation *from = alloc, *access;
      while (!(access = from->getBlock()->findAncestorOpInBlock(*use.getOwner()))) {
        from = from->getParentOp();
        first = std::min(first, order.first(from));
      }
      first = std::min(first, order.first(access));
      last = std::max(last, order.last(access));
    }
  if (first > last)
    first = last = order.first(alloc);
  buffer.first = first;
  buffer.last = last;
  return success();
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

StringAttr attune::getWorkersSymbol(MLIRContext *context) { return StringAttr::get(context, rt::kWorkers); }

int64_t attune::typicalBytes(const SizeExpr &size) {
  return size.evaluate([](Attribute symbol) -> int64_t { return symbol == getWorkersSymbol(symbol.getContext()) ? 8 : 64; });
}

void PlannedScope::assignSlots() {
  std::vector<unsigned> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::make_pair(-typicalBytes(buffers[a].size), a) < std::make_pair(-typicalBytes(buffers[b].size), b);
  });

  std::vector<SizeExpr> slots;
  std::vector<std::vector<unsigned>> occupants;
  for (unsigned index : order) {
    PlannedBuffer &buffer = buffers[index];
    std::optional<unsigned> best;
    for (unsigned slot = 0; slot != slots.size(); ++slot) {
      bool isFree = llvm::all_of(occupants[slot],
                                 [&](unsigned other) { return buffers[other].last < buffer.first || buffer.last < buffers[other].first; });
      if (isFree && buffer.size.isAtMost(slots[slot]) && (!best || typicalBytes(slots[slot]) < typicalBytes(slots[*best])))
        best = slot;
    }
    if (!best) {
      best = slots.size();
      slots.push_back(buffer.size);
      occupants.emplace_back();
    }
    occupants[*best].push_back(index);
    buffer.slot = *best;
  }

  bytes = SizeExpr(0);
  for (const SizeExpr &slot : slots) {
    slotOffsets.push_back(bytes);
    bytes = bytes + slot.alignTo(kBufferAlignment);
  }
}
