//===- PadRows.cpp - Rows that do not share sets of the cache -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects bufferized functions. A buffer and the arguments it is passed as have one type, so they get another stride together or not at
// all: when none of them is an argument of an entry, and all that is done to them and to views of them works with any stride.
//
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/Passes.h"
#include "dialect/IR/XfmrOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "mlir/IR/SymbolTable.h"

namespace attune {
#define GEN_PASS_DEF_PADROWS
#include "compiler/Transforms/Passes.h.inc"
} // namespace attune

using namespace mlir;

namespace {

/// The values that are one buffer in some call, and their views, with the types they would get.
class Buffers {
public:
  Buffers(SymbolTableCollection &symbols, SymbolUserMap &users) : symbols(symbols), users(users) {}
  /// Whether |alloc| and whatever is the same buffer can have |type|.
  bool collect(memref::AllocOp alloc, MemRefType type);
  /// Gives them these types.
  void apply();

private:
  bool add(Value value, MemRefType type);
  bool addUses(Value value, MemRefType type);
  bool addArgument(func::FuncOp function, unsigned index, MemRefType type);

  SymbolTableCollection &symbols;
  SymbolUserMap &users;
  llvm::MapVector<Value, MemRefType> types;
};

struct PadRows : attune::impl::PadRowsBase<PadRows> {
  using PadRowsBase::PadRowsBase;
  void runOnOperation() override;
};

} // namespace

bool Buffers::collect(memref::AllocOp alloc, MemRefType type) { return add(alloc, type); }

bool Buffers::add(Value value, MemRefType type) {
  auto [entry, isNew] = types.insert({value, type});
  return isNew ? addUses(value, type) : entry->second == type;
}

/// An argument is the buffer of all calls.
bool Buffers::addArgument(func::FuncOp function, unsigned index, MemRefType type) {
  if (!function || function.isExternal() || !function.isPrivate() || function->hasAttr(xfmr::kEntryAttr))
    return false;
  if (!add(function.getArgument(index), type))
    return false;
  return llvm::all_of(users.getUsers(function), [&](Operation *user) {
    auto call = dyn_cast<func::CallOp>(user);
    if (!call)
      return false;
    Value operand = call.getOperand(index);
    if (types.contains(operand))
      return types.lookup(operand) == type;
    if (operand.getDefiningOp<memref::AllocOp>())
      return add(operand, type);
    auto argument = dyn_cast<BlockArgument>(operand);
    return argument && argument.getOwner()->isEntryBlock() &&
           addArgument(dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()), argument.getArgNumber(), type);
  });
}

/// The type of a view of a buffer of |source|; null if it cannot be one.
static MemRefType getViewType(Operation *op, MemRefType source) {
  if (auto view = dyn_cast<memref::SubViewOp>(op))
    return memref::SubViewOp::inferRankReducedResultType(view.getType().getShape(), source, view.getMixedOffsets(), view.getMixedSizes(),
                                                         view.getMixedStrides());
  if (auto view = dyn_cast<memref::CollapseShapeOp>(op)) {
    SmallVector<ReassociationIndices> groups = view.getReassociationIndices();
    return memref::CollapseShapeOp::isGuaranteedCollapsible(source, groups) ? memref::CollapseShapeOp::computeCollapsedType(source, groups)
                                                                            : MemRefType();
  }
  if (auto view = dyn_cast<memref::ExpandShapeOp>(op)) {
    FailureOr<MemRefType> type =
        memref::ExpandShapeOp::computeExpandedType(source, view.getResultType().getShape(), view.getReassociationIndices());
    return succeeded(type) ? *type : MemRefType();
  }
  return {};
}

/// Whether |op| reads or writes its operands through their strides and gives no view of them.
static bool takesAnyStride(Operation *op) {
  return isa<memref::DimOp, memref::LoadOp, memref::StoreOp, memref::CopyOp, memref::DeallocOp, xfmr::KeyPanelOp, xfmr::AttentionTileOp,
             xfmr::KeyRowsOp, xfmr::RotaryTileOp, xfmr::QuantizeRowsOp>(op) ||
         isa<linalg::LinalgOp>(op);
}

bool Buffers::addUses(Value value, MemRefType type) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    if (auto call = dyn_cast<func::CallOp>(use.getOwner()))
      return addArgument(symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr()), use.getOperandNumber(), type);
    if (takesAnyStride(use.getOwner()))
      return true;
    MemRefType view = getViewType(use.getOwner(), type);
    return view && add(use.getOwner()->getResult(0), view);
  });
}

void Buffers::apply() {
  llvm::SetVector<func::FuncOp> changed;
  for (auto [value, type] : types) {
    value.setType(type);
    if (auto argument = dyn_cast<BlockArgument>(value))
      changed.insert(cast<func::FuncOp>(argument.getOwner()->getParentOp()));
  }
  for (func::FuncOp function : changed)
    function.setType(FunctionType::get(function.getContext(), function.getBody().getArgumentTypes(), function.getResultTypes()));
}

/// The type of |type|'s rows with |pad| bytes after each; null if they are not rows, or no multiple of |multiple| bytes.
static MemRefType getPaddedType(MemRefType type, int64_t elementBytes, int64_t multiple, int64_t pad) {
  ArrayRef<int64_t> shape = type.getShape();
  if (shape.size() < 2 || !type.getLayout().isIdentity() || ShapedType::isDynamicShape(shape.drop_front()))
    return {};
  auto [strides, offset] = type.getStridesAndOffset();
  if (strides.front() * elementBytes % multiple || pad % elementBytes)
    return {};
  strides.front() += pad / elementBytes;
  return MemRefType::get(shape, type.getElementType(), StridedLayoutAttr::get(type.getContext(), 0, strides), type.getMemorySpace());
}

void PadRows::runOnOperation() {
  SymbolTableCollection symbols;
  SymbolUserMap users(symbols, getOperation());
  getOperation().walk([&](memref::AllocOp alloc) {
    Type element = alloc.getType().getElementType();
    // Codes are read in tiles of their own.
    if (!element.isF32() || multiple <= 0)
      return;
    MemRefType type = getPaddedType(alloc.getType(), DataLayout::closest(alloc).getTypeSize(element).getFixedValue(), multiple, pad);
    Buffers buffers(symbols, users);
    if (type && buffers.collect(alloc, type))
      buffers.apply();
  });
}
