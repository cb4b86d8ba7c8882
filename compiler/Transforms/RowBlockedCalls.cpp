//===- RowBlockedCalls.cpp - Calls on one block of rows at a time ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/RowBlockedCalls.h"
#include "compiler/Transforms/RowWise.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace attune;

/// Returns the allocation or function argument that |buffer| is, or is a view of; null if that is not known, as for the
/// result of a loop or a branch.
static Value getOwner(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  auto argument = dyn_cast<BlockArgument>(buffer);
  bool isKnown = argument ? isa<func::FuncOp>(argument.getOwner()->getParentOp()) : buffer.getDefiningOp<memref::AllocOp>() != nullptr;
  return isKnown ? buffer : Value();
}

bool RowBlockedCalls::add(func::CallOp call, func::FuncOp kernel) {
  llvm::SmallDenseMap<Value, Value> added;
  bool connected = calls.empty();
  for (auto [index, operand] : llvm::enumerate(call.getOperands())) {
    if (!isa<MemRefType>(operand.getType()))
      continue;
    bool byRows = kernel.getArgAttr(index, tiles::kRowsAttr) != nullptr;
    Value owner = getOwner(operand), buffer = byRows ? operand : Value();
    auto known = owners.find(owner);
    if (!owner || (known != owners.end() && known->second != buffer) || added.try_emplace(owner, buffer).first->second != buffer)
      return false;
    connected |= byRows && rows.contains(operand);
  }
  if (!connected)
    return false;
  owners.insert(added.begin(), added.end());
  unsigned number = calls.size();
  for (auto [index, operand] : llvm::enumerate(call.getOperands()))
    if (kernel.getArgAttr(index, tiles::kRowsAttr))
      rows.insert({operand, BufferUse{number, number}}).first->second.last = number;
  calls.push_back(call);
  return true;
}

memref::AllocOp RowBlockedCalls::getPrivateAlloc(Value buffer) const {
  auto alloc = buffer.getDefiningOp<memref::AllocOp>();
  if (!alloc || alloc->getBlock() != calls.front()->getBlock())
    return {};
  bool isPrivate = llvm::all_of(buffer.getUsers(), [&](Operation *user) {
    auto dim = dyn_cast<memref::DimOp>(user);
    return dim ? dim.getConstantIndex() == 0 : llvm::is_contained(calls, user);
  });
  return isPrivate ? alloc : memref::AllocOp();
}

/// Returns true if the owner of |buffer| may be used before the calls (if |before|) or after them (if not). Returns
/// true for an owner that is not an allocation in the basic block of the calls.
bool RowBlockedCalls::isUsed(Value buffer, bool before) const {
  Block *block = calls.front()->getBlock();
  Value owner = getOwner(buffer);
  auto alloc = owner ? owner.getDefiningOp<memref::AllocOp>() : memref::AllocOp();
  if (!alloc || alloc->getBlock() != block)
    return true;
  SmallVector<Operation *> users = llvm::to_vector(alloc->getUsers());
  for (unsigned i = 0; i != users.size(); ++i) {
    Operation *user = users[i];
    if (isa<memref::DimOp>(user) || llvm::is_contained(calls, user))
      continue;
    if (isa<ViewLikeOpInterface>(user))
      llvm::append_range(users, user->getUsers());
    else if (user->getNumResults() != 0 || user->hasTrait<OpTrait::IsTerminator>() ||
             block->findAncestorOpInBlock(*user)->isBeforeInBlock(calls.front()) == before)
      return true; // a user that forwards the buffer lets it escape the analysis
  }
  return false;
}

/// Returns |other|, or a collapsed view of it that is created after it, as a buffer of |type|. Returns null if neither
/// has |type|; a view must be a matrix of f32 with one dynamic dimension.
static Value viewAs(MemRefType type, Value other) {
  auto from = cast<MemRefType>(other.getType());
  if (type == from)
    return other;
  // Matrices of low precision are excluded: memory planning rounds their numbers of rows up, so |other| may be too
  // small for one.
  if (!type.getElementType().isF32() || from.getRank() < 2 || type.getRank() != 2 || type.getNumDynamicDims() != 1 ||
      from.getNumDynamicDims() != 1)
    return {};
  SmallVector<ReassociationIndices> groups{{0}, llvm::to_vector(llvm::seq<int64_t>(1, from.getRank()))};
  if (!memref::CollapseShapeOp::isGuaranteedCollapsible(from, groups) ||
      memref::CollapseShapeOp::computeCollapsedType(from, groups) != type)
    return {};
  OpBuilder builder(other.getContext());
  builder.setInsertionPointAfterValue(other);
  return memref::CollapseShapeOp::create(builder, other.getLoc(), other, groups);
}

/// Returns the size that |user| reads if |user| is a `memref.dim` of |alloc| with a constant index; else null.
static OpFoldResult getSize(memref::AllocOp alloc, Operation *user) {
  auto dim = dyn_cast<memref::DimOp>(user);
  std::optional<int64_t> index = dim ? dim.getConstantIndex() : std::nullopt;
  return index && *index >= 0 && *index < alloc.getType().getRank() ? alloc.getMixedSizes()[*index] : OpFoldResult();
}

/// Returns true if all users of |alloc|, except sizes that getSize recognizes, come after the definition of |other|, in
/// its block or nested in operations of that block.
static bool isDefinedBeforeUsers(Value other, memref::AllocOp alloc) {
  Operation *definition = other.getDefiningOp();
  return definition && llvm::all_of(alloc->getUsers(), [&](Operation *user) {
           Operation *here = definition->getBlock()->findAncestorOpInBlock(*user);
           return getSize(alloc, user) || (here && definition->isBeforeInBlock(here));
         });
}

/// Replaces |alloc| by |view|, and each `memref.dim` of |alloc| by the size, which is an operand of |alloc| or a
/// constant.
static void replaceAlloc(memref::AllocOp alloc, Value view) {
  for (Operation *user : llvm::make_early_inc_range(alloc->getUsers()))
    if (OpFoldResult size = getSize(alloc, user)) {
      OpBuilder builder(user);
      user->getResult(0).replaceAllUsesWith(getValueOrCreateConstantIndexOp(builder, user->getLoc(), size));
      user->erase();
    }
  alloc->replaceAllUsesWith(ValueRange(view));
  alloc.erase();
}

void RowBlockedCalls::reuseRows() {
  llvm::MapVector<Value, unsigned> ends; // buffers, with the number of the last call that uses them
  for (auto [buffer, use] : rows)
    if (!getPrivateAlloc(buffer) && !isUsed(buffer, /*before=*/false))
      ends[buffer] = use.last;
  for (auto [buffer, use] : llvm::MapVector<Value, BufferUse>(rows)) {
    auto alloc = buffer.getDefiningOp<memref::AllocOp>();
    if (ends.contains(buffer) || !alloc || isUsed(buffer, /*before=*/true))
      continue;
    for (auto &[other, end] : ends) {
      bool isFree = end < use.first && isDefinedBeforeUsers(other, alloc);
      Value view = isFree ? viewAs(cast<MemRefType>(buffer.getType()), other) : Value();
      if (!view)
        continue;
      end = isUsed(buffer, /*before=*/false) ? calls.size() : use.last;
      rows.insert({view, use});
      rows.erase(buffer);
      replaceAlloc(alloc, view);
      break;
    }
  }
}

SmallVector<SmallVector<func::CallOp>> attune::findRowBlockedCalls(func::FuncOp function, SymbolTableCollection &symbols,
                                                                   llvm::function_ref<bool(func::FuncOp)> canTakeRows) {
  SmallVector<SmallVector<func::CallOp>> sequences;
  RowBlockedCalls sequence;
  auto end = [&] {
    if (sequence.calls.size() > 1 && llvm::any_of(sequence.rows, [&](auto &row) { return sequence.getPrivateAlloc(row.first) != nullptr; }))
      sequences.push_back(sequence.calls);
    sequence = RowBlockedCalls();
  };
  auto visit = [&](Block *block) {
    for (Operation &op : *block) {
      auto call = dyn_cast<func::CallOp>(op);
      auto kernel = call ? symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr()) : func::FuncOp();
      if (kernel && canTakeRows(kernel)) {
        if (!sequence.add(call, kernel)) {
          end();
          sequence.add(call, kernel);
        }
      } else if (!isMemoryEffectFree(&op) && !isa<memref::AllocOp>(op)) {
        end();
      }
    }
    end();
  };
  function.walk(visit);
  return sequences;
}
