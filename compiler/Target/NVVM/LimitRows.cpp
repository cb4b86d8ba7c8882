//===- LimitRows.cpp - Upper bounds of token counts -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects bufferized functions that still allocate. The host cannot read the number of packed tokens, so it uses an
// upper bound instead. The device can read the number: blocks past the last token return at once. So a function that is
// called with buffers whose rows are packed tokens gets the offsets buffer, whose last element is the number of tokens,
// as an argument, and its parallel loops over such rows are marked. Nothing calls entries, so their own loops are not
// marked. The pass treats the tokens that choose an expert in the same way. Their number is the only element of a
// buffer, which takes the place of the offsets buffer.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/Passes.h"
#include "dialect/Xfmr/Transforms/FunctionUsers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include <vector>

namespace attune {
#define GEN_PASS_DEF_LIMITROWS
#include "compiler/Target/NVVM/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

namespace {

/// The kind of a call: for each argument, -1 if its rows are not packed tokens, else the index of their offsets buffer
/// in the list of the call's different offsets buffers.
using Signature = std::vector<int64_t>;

struct LimitRows : attune::impl::LimitRowsBase<LimitRows> {
  using LimitRowsBase::LimitRowsBase;
  void runOnOperation() override;

private:
  void findCounts(func::FuncOp function);
  void specialize(func::FuncOp function, SymbolTable &symbols);
  void addOffsets(func::FuncOp function, const Signature &signature, ArrayRef<Type> types);
  void markLoops(func::FuncOp function);
  /// Return the offsets buffer of the packed tokens that |size| counts, or that are the rows of |buffer|; null if
  /// |size| does not count packed tokens, or if the rows are not packed tokens.
  Value findOffsets(OpFoldResult size);
  Value findRowOffsets(Value buffer);

  /// Map a value that counts tokens, and a function argument whose rows are tokens, to their offsets buffer.
  DenseMap<Value, Value> counts, rows;
};

} // namespace

/// Returns the buffer of the load if |value| is a loaded integer cast to an index; null otherwise.
static Value getLoaded(Value value) {
  auto cast = value.getDefiningOp<arith::IndexCastOp>();
  auto load = cast ? cast.getIn().getDefiningOp<memref::LoadOp>() : memref::LoadOp();
  return load ? load.getMemref() : Value();
}

/// Returns true if |op| or an operation in its regions calls a function.
static bool reachesCall(Operation &op) {
  return op.walk([](func::CallOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// Adds to |minima| the minima that the host computes: those in |block| and, recursively, in its loops that call
/// functions.
static void collectMinima(Block &block, SmallVectorImpl<arith::MinSIOp> &minima) {
  for (Operation &op : block) {
    if (auto least = dyn_cast<arith::MinSIOp>(op))
      minima.push_back(least);
    else if (auto loop = dyn_cast<scf::ForOp>(op); loop && reachesCall(op))
      collectMinima(*loop.getBody(), minima);
  }
}

/// Replaces token counts that the host reads by their upper bounds, and records the offsets buffer of each in |counts|.
void LimitRows::findCounts(func::FuncOp function) {
  SmallVector<arith::MinSIOp> minima;
  collectMinima(function.getBody().front(), minima);
  for (arith::MinSIOp least : minima) {
    Value offsets = getLoaded(least.getLhs()), bound = least.getRhs();
    if (!offsets)
      offsets = getLoaded(bound), bound = least.getLhs();
    if (!offsets)
      continue;
    OpBuilder builder(least);
    // max(bound, 0) is a value of its own for the count, because other uses of the bound are not token counts. The pass
    // removes it at the end.
    Value count = arith::MaxSIOp::create(builder, least.getLoc(), bound, arith::ConstantIndexOp::create(builder, least.getLoc(), 0));
    least.replaceAllUsesWith(count);
    least.erase();
    counts[count] = offsets;
  }
}

Value LimitRows::findOffsets(OpFoldResult size) {
  auto value = dyn_cast<Value>(size);
  if (!value)
    return {};
  if (Value offsets = counts.lookup(value))
    return offsets;
  auto dim = value.getDefiningOp<memref::DimOp>();
  return dim && dim.getConstantIndex() == 0 ? findRowOffsets(dim.getSource()) : Value();
}

Value LimitRows::findRowOffsets(Value buffer) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type || type.getRank() == 0 || !type.isDynamicDim(0))
    return {};
  if (isa<BlockArgument>(buffer))
    return rows.lookup(buffer);
  return TypeSwitch<Operation *, Value>(buffer.getDefiningOp())
      .Case([&](memref::AllocOp op) { return findOffsets(op.getMixedSizes()[0]); })
      .Case([&](memref::CastOp op) { return findRowOffsets(op.getSource()); })
      .Case([&](memref::SubViewOp op) {
        int rowDim = op.getDroppedDims().find_first_unset(); // A dropped dimension selects one matrix or list.
        return isConstantIntValue(op.getMixedOffsets()[rowDim], 0) ? findOffsets(op.getMixedSizes()[rowDim]) : Value();
      })
      .Case([&](memref::CollapseShapeOp op) { return op.getReassociationIndices()[0].size() == 1 ? findRowOffsets(op.getSrc()) : Value(); })
      .Case([&](memref::ExpandShapeOp op) { return op.getReassociationIndices()[0].size() == 1 ? findRowOffsets(op.getSrc()) : Value(); })
      .Default([](Operation *) { return Value(); });
}

/// Adds an argument to |function| for each offsets buffer that |signature| refers to; |types| are the types of these
/// buffers. Records the new argument of each packed argument in |rows|.
void LimitRows::addOffsets(func::FuncOp function, const Signature &signature, ArrayRef<Type> types) {
  SmallVector<Value> offsets;
  for (Type type : types) {
    unsigned index = function.getNumArguments();
    (void)function.insertArgument(index, type, {}, function.getLoc());
    function.setArgAttr(index, rt::kLimitAttr, Builder(&getContext()).getI64IntegerAttr(int64_t(offsets.size())));
    offsets.push_back(function.getArgument(index));
  }
  for (auto [index, number] : llvm::enumerate(signature))
    if (number >= 0)
      rows[function.getArgument(index)] = offsets[number];
}

/// Makes a version of |function| for each signature of its calls and for each list of types of their offsets buffers;
/// |function| itself becomes the first version. Lets each call pass its offsets buffers to its version, and marks the
/// loops of the versions. Does nothing without calls.
void LimitRows::specialize(func::FuncOp function, SymbolTable &symbols) {
  struct Version {
    Signature signature;
    SmallVector<Type> types;
    func::FuncOp target;
    SmallVector<std::pair<func::CallOp, SmallVector<Value>>> calls;
  };
  std::vector<Version> versions;
  getOperation().walk([&](func::CallOp call) {
    if (call.getCallee() != function.getSymName())
      return;
    SmallVector<Value> offsets;
    Signature signature;
    for (Value operand : call.getOperands()) {
      Value found = findRowOffsets(operand);
      auto *at = llvm::find(offsets, found);
      signature.push_back(found ? at - offsets.begin() : -1);
      if (found && at == offsets.end())
        offsets.push_back(found);
    }
    SmallVector<Type> types = llvm::to_vector(TypeRange(ValueRange(offsets)));
    auto version = llvm::find_if(versions, [&](const Version &one) { return one.signature == signature && one.types == types; });
    if (version == versions.end())
      version = versions.insert(version, {signature, types, versions.empty() ? function : cast<func::FuncOp>(function->clone()), {}});
    version->calls.emplace_back(call, std::move(offsets));
  });
  for (Version &version : versions) {
    if (version.target != function)
      symbols.insert(version.target, std::next(Block::iterator(function)));
    addOffsets(version.target, version.signature, version.types);
    for (auto &[call, offsets] : version.calls) {
      call->insertOperands(call.getNumOperands(), offsets);
      call.setCallee(version.target.getSymName());
    }
    markLoops(version.target);
  }
}

/// Marks the parallel loops of |function| over rows of packed tokens: `limit` in `rt.launch` becomes the `rt.limit` of
/// the argument that has the offsets of these rows.
void LimitRows::markLoops(func::FuncOp function) {
  for (auto loop : function.getOps<scf::ForallOp>())
    if (Value offsets = findOffsets(loop.getMixedUpperBound()[0]); offsets && isConstantIntValue(loop.getMixedLowerBound()[0], 0))
      if (auto argument = dyn_cast<BlockArgument>(offsets))
        loop->setAttr(rt::kLaunchAttr,
                      rt::LaunchAttr::get(&getContext(), /*grid=*/false, 0, 0, 0,
                                          function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), rt::kLimitAttr).getInt()));
}

void LimitRows::runOnOperation() {
  counts.clear(), rows.clear();
  SymbolTable symbols(getOperation());
  xfmr::CalleesFirst order(getOperation(), symbols);
  for (func::FuncOp function : order.functions)
    if (!function.isExternal())
      findCounts(function);
  if (counts.empty())
    return;
  // Callers before callees: the packed arguments of a function depend on the operands of its calls.
  for (func::FuncOp function : llvm::reverse(order.functions))
    if (!function.isExternal())
      specialize(function, symbols);
  for (auto [count, offsets] : counts) {
    auto bound = count.getDefiningOp<arith::MaxSIOp>();
    bound.replaceAllUsesWith(bound.getLhs());
    bound.erase();
  }
}
