//===- HoistToCallers.cpp - Weight expressions become arguments -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Equal expressions of a function become one new argument. They are recognized by their keys: the key of an expression
// is the source that it would have if its arguments and references were tensors with made-up names.
//
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "dialect/Xfmr/Transforms/HoistWeightExpressions.h"
#include "dialect/Xfmr/Transforms/WeightExpressions.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::xfmr;
using func::CallOp;
using func::FuncOp;

namespace {
/// The expressions over weight arguments and references of one function, each with its key. In a key, arguments and
/// references are tensors with made-up names, so equal expressions have equal keys.
struct Expressions {
  explicit Expressions(FuncOp function) {
    for (BlockArgument argument : function.getArguments())
      if (isWeightArgument(argument))
        if (auto type = dyn_cast<RankedTensorType>(argument.getType()))
          setLeaf(argument, "%" + Twine(argument.getArgNumber()), type, argument.getArgNumber());
    function.walk([&](Operation *op) { add(op); });
  }

  /// Equal expressions, each of which has an argument among its leaves and a user that is not an expression.
  struct Root {
    unsigned position; // of the first argument among their leaves, from left to right
    unsigned order;    // of the first of them among the roots of the function
    SmallVector<Operation *> ops;
  };

  /// Returns the roots by ascending |position|, those of equal position by |order|.
  SmallVector<Root> getRootsByArgument() const {
    auto isExpression = [&](Operation *user) { return isWeightExpression(user) && keys.contains(user->getResult(0)); };
    llvm::MapVector<Attribute, Root> roots;
    for (Operation *op : expressions) {
      auto argument = firstArgument.find(op->getResult(0));
      if (argument == firstArgument.end() || llvm::all_of(op->getUsers(), isExpression))
        continue;
      unsigned order = roots.size();
      roots.try_emplace(keys.lookup(op->getResult(0)), Root{argument->second, order, {}}).first->second.ops.push_back(op);
    }
    auto sorted = llvm::map_to_vector(roots, [](auto &entry) { return entry.second; });
    llvm::sort(sorted, [](const Root &a, const Root &b) { return std::tie(a.position, a.order) < std::tie(b.position, b.order); });
    return sorted;
  }

  SmallVector<Operation *> expressions;
  DenseMap<Value, Attribute> keys;
  DenseMap<Value, unsigned> firstArgument; // index of the first argument among the leaves, from the left

private:
  void setLeaf(Value leaf, const Twine &name, RankedTensorType type, std::optional<unsigned> argument) {
    SmallString<64> buffer;
    keys[leaf] = TensorSourceAttr::get(type.getContext(), name.toStringRef(buffer), type);
    if (argument)
      firstArgument[leaf] = *argument;
  }

  void add(Operation *op) {
    if (auto ref = dyn_cast<WeightRefOp>(op))
      if (auto type = dyn_cast<RankedTensorType>(ref.getType()))
        setLeaf(ref, "@" + ref.getWeight(), type, std::nullopt);
    if (!isWeightExpression(op) || !llvm::all_of(op->getOperands(), [&](Value v) { return keys.contains(v); }))
      return;
    keys[op->getResult(0)] = composeSource(op, llvm::map_to_vector(op->getOperands(), [&](Value v) { return keys.lookup(v); }));
    expressions.push_back(op);
    for (Value operand : op->getOperands())
      if (auto found = firstArgument.find(operand); found != firstArgument.end()) {
        unsigned argument = found->second;
        firstArgument[op->getResult(0)] = argument;
        break;
      }
  }
};
} // namespace

/// Clones the operations that compute |value|, an expression in the callee, before |call|, with the operands of |call|
/// in the place of the callee's arguments. Returns the value that the clones compute. |done| maps values of the callee
/// to their clones, for one |call|.
static Value computeAtCall(OpBuilder &builder, CallOp call, Value value, IRMapping &done) {
  if (Value known = done.lookupOrNull(value))
    return known;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return call.getOperand(argument.getArgNumber());
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    done.map(operand, computeAtCall(builder, call, operand, done));
  builder.clone(*op, done);
  return done.lookup(value);
}

bool xfmr::hasExpressionsOverArguments(FuncOp function) { return !Expressions(function).getRootsByArgument().empty(); }

LogicalResult xfmr::hoistToCallers(FuncOp function, ArrayRef<CallOp> callers) {
  Expressions expressions(function);
  auto roots = expressions.getRootsByArgument();
  SmallVector<unsigned> positions;
  SmallVector<Type> types;
  SmallVector<Location> locs;
  for (const Expressions::Root &root : roots) {
    positions.push_back(root.position);
    types.push_back(root.ops[0]->getResult(0).getType());
    locs.push_back(root.ops[0]->getLoc());
  }

  for (CallOp call : callers) {
    OpBuilder builder(call);
    IRMapping done;
    SmallVector<Value> operands;
    size_t next = 0;
    for (auto [index, operand] : llvm::enumerate(call.getOperands())) {
      for (; next < roots.size() && positions[next] == index; ++next)
        operands.push_back(computeAtCall(builder, call, roots[next].ops[0]->getResult(0), done));
      operands.push_back(operand);
    }
    call->setOperands(operands);
  }

  auto mark = DictionaryAttr::get(function.getContext(), getWeightMark(function.getContext()));
  SmallVector<DictionaryAttr> marks(roots.size(), mark);
  if (failed(function.insertArguments(positions, types, marks, locs)))
    return function.emitOpError("cannot take new arguments");
  for (auto [index, root] : llvm::enumerate(roots))
    for (Operation *op : root.ops)
      op->getResult(0).replaceAllUsesWith(function.getArgument(positions[index] + index));
  eraseDead(expressions.expressions);

  BitVector unused(function.getNumArguments());
  for (BlockArgument argument : function.getArguments())
    if (argument.use_empty() && isWeightArgument(argument))
      unused.set(argument.getArgNumber());
  if (unused.none())
    return success();
  for (CallOp call : callers)
    call->eraseOperands(unused);
  if (failed(function.eraseArguments(unused)))
    return function.emitOpError("cannot drop arguments");
  return success();
}
