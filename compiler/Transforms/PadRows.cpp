//===- PadRows.cpp - Padding of rows that share sets of the cache ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Adds padding to the rows of buffers whose row size maps the same column of many rows to the same sets of the L1
// cache; Passes.td has the arithmetic. Expects bufferized functions. A buffer and the function arguments to which it is
// passed have one type, so they get a new stride together or not at all. They get it if none of them is an argument of
// an entry and every user of them and of their views works with any stride.
//
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/BufferTypes.h"
#include "compiler/Transforms/Passes.h"
#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "dialect/Xfmr/Transforms/FunctionUsers.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"

namespace attune {
#define GEN_PASS_DEF_PADROWS
#include "compiler/Transforms/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

namespace {

/// A buffer, the arguments for which calls pass it, the other buffers that calls pass for these arguments, and the
/// views of all of them, with the types that they would get.
class Buffers {
public:
  Buffers(const SymbolTable &symbols, const xfmr::FunctionUsers &users) : symbols(symbols), users(users) {}

  BufferTypes types{[this](func::CallOp call, unsigned operand, MemRefType type) {
    return addArgument(symbols.lookup<func::FuncOp>(call.getCallee()), operand, type);
  }};

private:
  bool addArgument(func::FuncOp function, unsigned index, MemRefType type);

  const SymbolTable &symbols;
  const xfmr::FunctionUsers &users;
};

struct PadRows : attune::impl::PadRowsBase<PadRows> {
  using PadRowsBase::PadRowsBase;
  void runOnOperation() override;
};

} // namespace

/// Adds argument |index| of |function| with |type|, and the operands that all calls of |function| pass for it. Returns
/// false if one of these values cannot have the type.
bool Buffers::addArgument(func::FuncOp function, unsigned index, MemRefType type) {
  if (!function || function.isExternal() || !function.isPrivate() || xfmr::getEntry(function))
    return false;
  if (users.hasOtherUsers(function) || !types.add(function.getArgument(index), type))
    return false;
  return llvm::all_of(users.getCalls(function), [&](func::CallOp call) {
    Value operand = call.getOperand(index);
    if (MemRefType known = types.lookup(operand))
      return known == type;
    if (operand.getDefiningOp<memref::AllocOp>())
      return types.add(operand, type);
    auto argument = dyn_cast<BlockArgument>(operand);
    return argument && argument.getOwner()->isEntryBlock() &&
           addArgument(dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()), argument.getArgNumber(), type);
  });
}

/// Returns |type| with |pad| bytes after each row. Returns null if |type| has no rows of static size or no identity
/// layout, if the size of its rows is not a multiple of |multiple| bytes, or if |pad| is not a multiple of
/// |elementBytes|.
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
  SymbolTable symbols(getOperation());
  xfmr::FunctionUsers users(getOperation(), symbols);
  getOperation().walk([&](memref::AllocOp alloc) {
    Type element = alloc.getType().getElementType();
    // Rows are padded only for register tiles of f32, so buffers of low-precision operands stay.
    if (!element.isF32() || multiple <= 0)
      return;
    MemRefType type = getPaddedType(alloc.getType(), DataLayout::closest(alloc).getTypeSize(element).getFixedValue(), multiple, pad);
    Buffers buffers(symbols, users);
    if (type && buffers.types.add(alloc, type))
      buffers.types.apply();
  });
}
