//===- WeightRows.cpp - Rows of the weights of layer functions ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Weights/WeightRows.h"
#include "attune/abi.h"
#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune;

int64_t attune::getWeightBytes(mlir::Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return llvm::divideCeil(tensor.getNumElements() * tensor.getElementTypeBitWidth(), 8);
}

bool attune::isWeightArgument(func::FuncOp function, unsigned index) {
  auto type = dyn_cast<RankedTensorType>(function.getArgumentTypes()[index]);
  return type && type.hasStaticShape() && xfmr::isMarkedWeight(function, index);
}

/// Returns true if |function| calls itself, directly or through other functions. The row of such a function would
/// contain itself.
static bool isRecursive(func::FuncOp function, const SymbolTable &symbols) {
  llvm::SetVector<func::FuncOp> reached;
  auto addCallees = [&](func::FuncOp caller) {
    caller.walk([&](func::CallOp call) {
      if (auto callee = symbols.lookup<func::FuncOp>(call.getCallee()))
        reached.insert(callee);
    });
  };
  addCallees(function);
  for (unsigned i = 0; i < reached.size(); ++i)
    addCallees(reached[i]);
  return reached.contains(function);
}

WeightRows::WeightRows(ModuleOp module) : symbols(tables.getSymbolTable(module)), users(module, symbols) {
  // Start from all candidates. Drop those with a call outside of entries and layer functions, or with a call that
  // passes anything but weights for weight arguments, until nothing changes.
  for (auto function : module.getOps<func::FuncOp>()) {
    bool takesWeights = llvm::any_of(llvm::seq(function.getNumArguments()), [&](unsigned i) { return isWeightArgument(function, i); });
    if (function.isPrivate() && !function.isExternal() && !users.hasOtherUsers(function) && takesWeights && !isRecursive(function, symbols))
      layers.insert(function);
  }
  while (layers.remove_if([&](func::FuncOp function) { return !canBeLayer(function); }))
    ;
  for (func::FuncOp function : layers)
    computeRow(function);
  for (func::FuncOp function : layers)
    for (func::FuncOp other : layers)
      if (rows[other].slots.size() > rows[function].slots.size() && adoptLayout(function, other))
        break;
}

/// Returns the names of the weights that |call| passes for the slots of |row|, one for each slot; empty if one of these
/// operands is no `xfmr.weight_ref`.
static SmallVector<StringAttr> namesOf(func::CallOp call, const WeightRow &row) {
  SmallVector<StringAttr> names;
  for (const WeightSlot &slot : row.slots) {
    auto ref = call.getOperand(slot.argument).getDefiningOp<xfmr::WeightRefOp>();
    if (!ref)
      return {};
    names.push_back(ref.getWeightAttr().getAttr());
  }
  return names;
}

/// Returns the positions of |names| in |others|; empty if |others| lacks one of them.
static SmallVector<unsigned> findAll(ArrayRef<StringAttr> names, ArrayRef<StringAttr> others) {
  SmallVector<unsigned> places;
  for (StringAttr name : names) {
    const auto *found = llvm::find(others, name);
    if (found == others.end())
      return {};
    places.push_back(found - others.begin());
  }
  return places;
}

bool WeightRows::adoptLayout(func::FuncOp function, func::FuncOp other) {
  WeightRow &row = rows[function], &whole = rows[other];
  if (!row.calls.empty() || !whole.calls.empty())
    return false;
  SmallVector<SmallVector<StringAttr>> otherNames;           // of each call of |other|
  llvm::DenseMap<StringAttr, SmallVector<unsigned>> passing; // the calls of |other| by the weights they pass
  for (auto [index, call] : llvm::enumerate(users.getCalls(other))) {
    otherNames.push_back(namesOf(call, whole));
    for (StringAttr name : otherNames.back())
      passing[name].push_back(index);
  }
  SmallVector<unsigned> places;
  for (func::CallOp call : users.getCalls(function)) {
    SmallVector<StringAttr> names = namesOf(call, row);
    bool found = !names.empty() && llvm::any_of(passing.lookup(names.front()), [&](unsigned index) {
      SmallVector<unsigned> here = findAll(names, otherNames[index]);
      if (here.empty() || (!places.empty() && here != places))
        return false;
      places = here;
      return true;
    });
    if (!found)
      return false;
  }
  if (places.empty())
    return false;
  for (auto [slot, place] : llvm::zip_equal(row.slots, places))
    slot.offset = whole.slots[place].offset;
  row.own.assign(row.slots.begin(), row.slots.end());
  row.bytes = whole.bytes;
  return true;
}

bool WeightRows::canBeLayer(func::FuncOp function) const {
  for (func::CallOp call : users.getCalls(function)) {
    auto caller = call->getParentOfType<func::FuncOp>();
    if (!caller || (!layers.contains(caller) && !xfmr::getEntry(caller)))
      return false;
    for (auto [index, operand] : llvm::enumerate(call.getOperands())) {
      if (!isWeightArgument(function, index) || operand.getDefiningOp<xfmr::WeightRefOp>())
        continue;
      auto argument = dyn_cast<BlockArgument>(operand);
      if (!argument || argument.getOwner() != &caller.getBody().front() || !layers.contains(caller) ||
          !isWeightArgument(caller, argument.getArgNumber()))
        return false;
    }
  }
  return true;
}

func::FuncOp WeightRows::getLayer(func::CallOp call) const {
  auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
  return callee && layers.contains(callee) ? callee : func::FuncOp();
}

bool WeightRows::isRowOperand(OpOperand &use) const {
  auto call = dyn_cast<func::CallOp>(use.getOwner());
  func::FuncOp callee = call ? getLayer(call) : func::FuncOp();
  return callee && isWeightArgument(callee, use.getOperandNumber());
}

void WeightRows::computeRow(func::FuncOp function) {
  if (rows.count(function))
    return;
  WeightRow row;
  auto addSlot = [&](unsigned argument, int64_t offset, int64_t bytes) {
    row.slots.push_back({argument, offset, bytes});
    row.bytes = std::max<int64_t>(row.bytes, llvm::alignTo(offset + bytes, ATTUNE_ALIGNMENT));
  };
  for (BlockArgument argument : function.getArguments())
    if (isWeightArgument(function, argument.getArgNumber()) &&
        llvm::any_of(argument.getUses(), [&](OpOperand &use) { return !isRowOperand(use); })) {
      addSlot(argument.getArgNumber(), row.bytes, getWeightBytes(argument.getType()));
      row.own.push_back(row.slots.back());
    }
  function.walk([&](func::CallOp call) {
    func::FuncOp callee = getLayer(call);
    if (!callee)
      return;
    computeRow(callee);
    int64_t begin = row.bytes;
    row.calls.push_back({call, begin});
    for (const WeightSlot &slot : getRow(callee).slots)
      addSlot(cast<BlockArgument>(call.getOperand(slot.argument)).getArgNumber(), begin + slot.offset, slot.bytes);
  });
  rows[function] = std::move(row);
}
