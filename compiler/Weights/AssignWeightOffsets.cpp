//===- AssignWeightOffsets.cpp - Offsets in the weights file --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects entries and layer functions (see WeightRows.h) on tensors, with `xfmr.weight_ref` in entries only. After the
// pass, entries and layer functions take a buffer of bytes, of which the weights are views at constant offsets.
// `xfmr.weight` operations without users are erased; the others stay, one for each offset of a weight: they are the
// packer's list of weights and offsets.
//
//===----------------------------------------------------------------------===//

#include "attune/abi.h"
#include "compiler/Weights/Passes.h"
#include "compiler/Weights/WeightRows.h"
#include "dialect/Rt/IR/RtAttrs.h"
#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "dialect/Xfmr/Transforms/WeightExpressions.h"
#include "llvm/Support/MathExtras.h"

#include <map>

namespace attune {
#define GEN_PASS_DEF_ASSIGNWEIGHTOFFSETS
#include "compiler/Weights/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

/// The alignment in bytes of the rows (WeightRows.h) of calls in entries. It is the size of a page, so that the system
/// can load and drop the weights of one layer separately.
static constexpr int64_t kPage = 4096;
static_assert(ATTUNE_ALIGNMENT % xfmr::kWeightAlignment == 0);

namespace {

/// Assigns offsets in the data section of the weights file and records them on the weights.
class WeightPlacer {
public:
  explicit WeightPlacer(ModuleOp module) : symbols(module) {}

  /// Returns the offset of a weight that entries read themselves. Assigns one if the weight has none.
  int64_t placeShared(StringAttr name) {
    auto [found, isNew] = shared.try_emplace(name, 0);
    if (isNew) {
      found->second = reserve(getWeightBytes(symbols.lookup<xfmr::WeightOp>(name).getType()), ATTUNE_ALIGNMENT);
      record(name, found->second);
    }
    return found->second;
  }

  /// Returns the offset of the row with the layout |layout| and the weights |names|, one for each slot. Assigns an
  /// offset if the row has none: the offset of an earlier row that has all of its slots and more, if there is one, else
  /// a new offset. Equal rows have one offset.
  int64_t placeRow(const WeightRow &layout, ArrayRef<StringAttr> names) {
    RowKey key;
    for (auto [slot, name] : llvm::zip_equal(layout.slots, names))
      key.push_back({name.getAsOpaquePointer(), slot.offset});
    auto [found, isNew] = rows.try_emplace(key, 0);
    if (std::optional<int64_t> offset = isNew ? findWhole(key) : std::nullopt) {
      found->second = *offset;
    } else if (isNew) {
      found->second = reserve(layout.bytes, kPage);
      for (const Slot &slot : key)
        holders[slot].push_back(&*found);
      for (auto [slot, name] : llvm::zip_equal(layout.slots, names))
        record(name, found->second + slot.offset);
    }
    return found->second;
  }

  int64_t bytes() const { return end; }

private:
  using Slot = std::pair<const void *, int64_t>; // a weight and its offset in the row
  using RowKey = std::vector<Slot>;
  using Row = std::pair<const RowKey, int64_t>;

  /// Returns the offset of the first stored row that has all slots of |part|, and more; nullopt if there is no such row
  /// or |part| is empty.
  std::optional<int64_t> findWhole(const RowKey &part) const {
    if (part.empty())
      return std::nullopt;
    // Such a row holds every slot of |part|, so it is enough to search the rows that hold the slot of |part| that the
    // fewest rows hold.
    ArrayRef<const Row *> candidates = holdersOf(part.front());
    for (const Slot &slot : part)
      if (holdersOf(slot).size() < candidates.size())
        candidates = holdersOf(slot);
    for (const Row *row : candidates) {
      auto isThere = [&](const Slot &slot) { return llvm::is_contained(row->first, slot); };
      if (row->first.size() > part.size() && llvm::all_of(part, isThere))
        return row->second;
    }
    return std::nullopt;
  }

  /// Returns the stored rows that hold |slot|, in the order of their offsets. Rows that share another row's bytes are
  /// not among them.
  ArrayRef<const Row *> holdersOf(const Slot &slot) const {
    auto found = holders.find(slot);
    return found == holders.end() ? ArrayRef<const Row *>() : ArrayRef<const Row *>(found->second);
  }

  int64_t reserve(int64_t bytes, int64_t alignment) {
    int64_t begin = llvm::alignTo(end, alignment);
    end = llvm::alignTo(begin + bytes, ATTUNE_ALIGNMENT);
    return begin;
  }

  /// Records |offset| on the weight |name|, or on a clone of it if it already has an offset.
  void record(StringAttr name, int64_t offset) {
    auto weight = symbols.lookup<xfmr::WeightOp>(name);
    if (weight.getOffset()) {
      auto copy = cast<xfmr::WeightOp>(weight->clone());
      symbols.insert(copy, std::next(weight->getIterator()));
      weight = copy;
    }
    weight.setOffset(offset);
  }

  SymbolTable symbols;
  int64_t end = 0;
  llvm::DenseMap<StringAttr, int64_t> shared;
  std::map<RowKey, int64_t> rows;
  llvm::DenseMap<Slot, SmallVector<const Row *, 1>> holders;
};

struct AssignWeightOffsetsPass : attune::impl::AssignWeightOffsetsBase<AssignWeightOffsetsPass> {
  void runOnOperation() override;

private:
  LogicalResult verifyReferences();
  void rewriteEntry(func::FuncOp entry, const WeightRows &rows, WeightPlacer &placer);
  void rewriteLayer(func::FuncOp layer, const WeightRow &row, const WeightRows &rows);
};

} // namespace

/// Returns the tensor of type |type| at byte |offset| of |bytes|.
static Value createTensor(OpBuilder &builder, Location loc, Value bytes, int64_t offset, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  Value position = arith::ConstantIndexOp::create(builder, loc, offset);
  auto memref = MemRefType::get(tensor.getShape(), tensor.getElementType());
  Value view = memref::ViewOp::create(builder, loc, memref, bytes, position, ValueRange());
  return bufferization::ToTensorOp::create(builder, loc, tensor, view, /*restrict=*/true);
}

/// Returns a view of |size| bytes of the buffer |bytes|, from byte |offset| on.
static Value createRow(OpBuilder &builder, Location loc, Value bytes, int64_t offset, int64_t size) {
  Value position = arith::ConstantIndexOp::create(builder, loc, offset);
  Value length = arith::ConstantIndexOp::create(builder, loc, size);
  return memref::ViewOp::create(builder, loc, cast<MemRefType>(bytes.getType()), bytes, position, ValueRange(length));
}

/// Returns the weights that |call|, in an entry, passes for the slots of |row|.
static SmallVector<StringAttr> getWeightNames(func::CallOp call, const WeightRow &row) {
  return llvm::map_to_vector(row.slots, [&](const WeightSlot &slot) {
    return call.getOperand(slot.argument).getDefiningOp<xfmr::WeightRefOp>().getWeightAttr().getAttr();
  });
}

/// Replaces the weight operands of |call| by |row|, its new last operand.
static void passRow(func::CallOp call, Value row, const WeightRows &rows) {
  SmallVector<Value> operands;
  for (OpOperand &operand : call->getOpOperands())
    if (!rows.isRowOperand(operand))
      operands.push_back(operand.get());
  operands.push_back(row);
  call.getOperandsMutable().assign(operands);
}

/// Appends an argument for the bytes of weights, `memref<?xi8>`, and returns it.
static Value addBytesArgument(func::FuncOp function) {
  OpBuilder builder(function);
  auto type = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
  auto attrs = builder.getDictionaryAttr(builder.getNamedAttr(rt::kRoleAttr, rt::RoleAttr::get(builder.getContext(), rt::Role::Weights)));
  unsigned index = function.getNumArguments();
  (void)function.insertArgument(index, type, attrs, function.getLoc());
  return function.getArgument(index);
}

/// Returns a leaf of the weight expression |expression|, for an error: a leaf that is no weight if it finds one, else
/// the first leaf.
static Value findRoot(Operation *expression) {
  auto bad = llvm::find_if_not(expression->getOperands(), [](Value operand) { return xfmr::isWeight(operand); });
  Value operand = bad == expression->operand_end() ? expression->getOperand(0) : *bad;
  Operation *op = operand.getDefiningOp();
  return op && xfmr::isWeightExpression(op) ? findRoot(op) : operand;
}

/// Emits an error at |expression|, a weight expression that the packer cannot compute.
static LogicalResult refuseExpression(Operation *expression) {
  Value root = findRoot(expression);
  InFlightDiagnostic error = emitError(expression->getLoc(), "expects a weight, an xfmr.weight_ref or, in a private function that gets "
                                                             "weights in every call, an argument with 'xfmr.weight', but got ");
  if (Operation *op = root.getDefiningOp())
    return error << "the result of '" << op->getName() << "'";
  auto argument = cast<BlockArgument>(root);
  error << "argument #" << argument.getArgNumber();
  if (auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()))
    error << " of '" << function.getSymName() << "'";
  return error;
}

LogicalResult AssignWeightOffsetsPass::verifyReferences() {
  WalkResult result = getOperation().walk([](xfmr::WeightRefOp ref) {
    auto function = ref->getParentOfType<func::FuncOp>();
    if (function && xfmr::getEntry(function))
      return WalkResult::advance();
    ref.emitError("expects weights to be named in entries only, but ")
        << ref.getWeightAttr() << " is used in a function without 'xfmr.entry'";
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return failure();
  // xfmr-hoist-weight-expressions has replaced the weight expressions that the packer can compute, so the remaining
  // ones are errors.
  result = getOperation().walk(
      [](Operation *op) { return xfmr::isWeightExpression(op) ? WalkResult(refuseExpression(op)) : WalkResult::advance(); });
  return failure(result.wasInterrupted());
}

void AssignWeightOffsetsPass::rewriteEntry(func::FuncOp entry, const WeightRows &rows, WeightPlacer &placer) {
  Value weights = addBytesArgument(entry);
  entry.walk([&](func::CallOp call) {
    func::FuncOp layer = rows.getLayer(call);
    if (!layer)
      return;
    const WeightRow &row = rows.getRow(layer);
    OpBuilder builder(call);
    int64_t offset = placer.placeRow(row, getWeightNames(call, row));
    passRow(call, createRow(builder, call.getLoc(), weights, offset, row.bytes), rows);
  });
  entry.walk([&](xfmr::WeightRefOp ref) {
    if (!ref.use_empty()) {
      OpBuilder builder(ref);
      int64_t offset = placer.placeShared(ref.getWeightAttr().getAttr());
      ref.replaceAllUsesWith(createTensor(builder, ref.getLoc(), weights, offset, ref.getType()));
    }
    ref.erase();
  });
}

void AssignWeightOffsetsPass::rewriteLayer(func::FuncOp layer, const WeightRow &row, const WeightRows &rows) {
  Value bytes = addBytesArgument(layer);
  OpBuilder builder = OpBuilder::atBlockBegin(&layer.getBody().front());
  for (auto [call, offset] : row.calls) {
    OpBuilder atCall(call);
    passRow(call, createRow(atCall, call.getLoc(), bytes, offset, rows.getRow(rows.getLayer(call)).bytes), rows);
  }
  for (const WeightSlot &slot : row.own) {
    BlockArgument argument = layer.getArgument(slot.argument);
    argument.replaceAllUsesWith(createTensor(builder, argument.getLoc(), bytes, slot.offset, argument.getType()));
  }
}

void AssignWeightOffsetsPass::runOnOperation() {
  ModuleOp module = getOperation();
  if (failed(verifyReferences()))
    return signalPassFailure();
  for (auto weight : module.getOps<xfmr::WeightOp>())
    weight.removeOffsetAttr();

  WeightRows rows(module);
  WeightPlacer placer(module);
  // Rows, the weights that one call of a layer function gets, come first in the file. The weights that entries read
  // themselves follow, in the order of their use. So rows keep their offsets when the model is compiled without some of
  // its outputs.
  for (auto entry : module.getOps<func::FuncOp>())
    if (xfmr::getEntry(entry))
      entry.walk([&](func::CallOp call) {
        if (func::FuncOp layer = rows.getLayer(call))
          (void)placer.placeRow(rows.getRow(layer), getWeightNames(call, rows.getRow(layer)));
      });
  for (auto entry : module.getOps<func::FuncOp>())
    entry.walk([&](xfmr::WeightRefOp ref) {
      if (llvm::any_of(ref->getUses(), [&](OpOperand &use) { return !rows.isRowOperand(use); }))
        (void)placer.placeShared(ref.getWeightAttr().getAttr());
    });
  for (auto entry : module.getOps<func::FuncOp>())
    if (xfmr::getEntry(entry))
      rewriteEntry(entry, rows, placer);
  for (func::FuncOp layer : rows.functions())
    rewriteLayer(layer, rows.getRow(layer), rows);
  // The weight arguments are removed last, since the rewriting of a call reads those of its callee.
  for (func::FuncOp layer : rows.functions()) {
    llvm::BitVector erased(layer.getNumArguments());
    for (unsigned i = 0; i < layer.getNumArguments(); ++i)
      erased[i] = isWeightArgument(layer, i);
    (void)layer.eraseArguments(erased);
  }

  for (auto weight : llvm::make_early_inc_range(module.getOps<xfmr::WeightOp>()))
    if (!weight.getOffset())
      weight.erase();
  xfmr::setWeightsBytes(module, placer.bytes());
}
