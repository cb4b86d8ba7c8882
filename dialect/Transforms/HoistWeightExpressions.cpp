//===- HoistWeightExpressions.cpp - Weight expressions into sources -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects weights as arguments marked xfmr.weight of private functions and as weight_refs; leaves no expression over
// either, except in functions whose arguments are not ours to change. Functions are visited callees first: what a
// function hands to its callers is folded or handed on when their turn comes. Each visit looks at the function's
// operations once and does a constant amount of work per call and expression, so the whole is linear in the number of
// layers.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transforms/Passes.h"
#include "dialect/Transforms/WeightExpressions.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::xfmr {
#define GEN_PASS_DEF_HOISTWEIGHTEXPRESSIONS
#include "dialect/Transforms/Passes.h.inc"
} // namespace mlir::xfmr

using namespace mlir;
using namespace mlir::xfmr;
using func::CallOp;
using func::FuncOp;

namespace {

//===----------------------------------------------------------------------===//
// Call graph
//===----------------------------------------------------------------------===//

/// The functions of a module, callees first, and who calls them.
struct Calls {
  explicit Calls(ModuleOp module, SymbolTable &symbols) {
    for (auto function : module.getOps<FuncOp>())
      visit(function, symbols);
    // A function that is named other than by a call, from anywhere, must keep its type.
    module.walk([&](Operation *op) {
      if (isa<CallOp>(op))
        return;
      op->getAttrDictionary().walk([&](SymbolRefAttr attr) {
        if (auto function = symbols.lookup<FuncOp>(attr.getRootReference()))
          fixed.insert(function);
      });
    });
  }

  /// Whether all uses of |function| are calls that this pass can rewrite.
  bool isClosed(FuncOp function) const {
    return function.isPrivate() && !function.isDeclaration() && !fixed.contains(function);
  }

  llvm::SetVector<FuncOp> postorder;
  DenseMap<FuncOp, SmallVector<CallOp>> callers;

private:
  void visit(FuncOp function, SymbolTable &symbols) {
    if (!entered.insert(function).second)
      return;
    function.walk([&](CallOp call) {
      auto callee = symbols.lookup<FuncOp>(call.getCallee());
      if (!callee)
        return;
      callers[callee].push_back(call);
      visit(callee, symbols);
      if (!postorder.contains(callee)) // still being visited: a recursion
        fixed.insert(callee);
    });
    postorder.insert(function);
  }

  DenseSet<FuncOp> entered, fixed;
};

//===----------------------------------------------------------------------===//
// From functions to their callers
//===----------------------------------------------------------------------===//

/// The expressions of one function, each with a source in which arguments and references stand as tensors of made-up
/// names: equal expressions have equal keys.
struct Expressions {
  explicit Expressions(FuncOp function) {
    for (BlockArgument argument : function.getArguments())
      if (isWeightArgument(argument))
        if (auto type = dyn_cast<RankedTensorType>(argument.getType()))
          setLeaf(argument, "%" + Twine(argument.getArgNumber()), type, argument.getArgNumber());
    function.walk([&](Operation *op) { add(op); });
  }

  /// Equal expressions over arguments that something other than an expression uses.
  struct Root {
    unsigned position; // of the first argument they use
    unsigned order;    // of appearance
    SmallVector<Operation *> ops;
  };

  /// The roots in the order of their arguments.
  SmallVector<Root> getRootsByArgument() const {
    auto isExpression = [&](Operation *user) { return isWeightExpression(user) && keys.contains(user->getResult(0)); };
    llvm::MapVector<Attribute, Root> roots;
    for (Operation *op : expressions) {
      auto argument = firstArgument.find(op->getResult(0));
      if (argument == firstArgument.end() || llvm::all_of(op->getUsers(), isExpression))
        continue;
      unsigned order = roots.size();
      roots.try_emplace(keys.lookup(op->getResult(0)), Root{argument->second, order, {}})
          .first->second.ops.push_back(op);
    }
    auto sorted = llvm::map_to_vector(roots, [](auto &entry) { return entry.second; });
    llvm::sort(sorted, [](const Root &a, const Root &b) {
      return std::tie(a.position, a.order) < std::tie(b.position, b.order);
    });
    return sorted;
  }

  SmallVector<Operation *> expressions;
  DenseMap<Value, Attribute> keys;
  DenseMap<Value, unsigned> firstArgument; // of the expression's first leaf that is an argument

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
    keys[op->getResult(0)] =
        composeSource(op, llvm::map_to_vector(op->getOperands(), [&](Value v) { return keys.lookup(v); }));
    expressions.push_back(op);
    for (Value operand : op->getOperands())
      if (auto found = firstArgument.find(operand); found != firstArgument.end()) {
        unsigned argument = found->second;
        firstArgument[op->getResult(0)] = argument;
        break;
      }
  }
};

/// Computes at |call| what |op| computes in the callee.
Value computeAtCall(OpBuilder &builder, CallOp call, Value value, IRMapping &done) {
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

void eraseDead(ArrayRef<Operation *> expressions) {
  for (Operation *op : llvm::reverse(expressions))
    if (op->use_empty())
      op->erase();
}

/// Turns the expressions of |function| over its arguments into new arguments, each where the first argument it uses
/// stands.
LogicalResult hoistToCallers(FuncOp function, ArrayRef<CallOp> callers) {
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

  auto mark =
      DictionaryAttr::get(function.getContext(), NamedAttribute(StringAttr::get(function.getContext(), kWeightArgAttr),
                                                                UnitAttr::get(function.getContext())));
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

//===----------------------------------------------------------------------===//
// From references to weights
//===----------------------------------------------------------------------===//

/// Declares weights for expressions over references.
class WeightFolder {
public:
  WeightFolder(ModuleOp module, SymbolTable &symbols) : symbols(symbols) {
    for (auto weight : module.getOps<WeightOp>())
      bySource.try_emplace(weight.getSource(), weight);
  }

  /// Replaces every expression over references in |function| that is used by something else by a reference.
  void fold(FuncOp function) {
    DenseMap<Value, Expression> known;
    SmallVector<Operation *> done;
    function.walk([&](Operation *op) {
      if (auto ref = dyn_cast<WeightRefOp>(op)) {
        auto weight = symbols.lookup<WeightOp>(ref.getWeight());
        known[ref] = {weight.getSource(), weight, ref.getWeight().str()};
        done.push_back(op);
      } else if (isWeightExpression(op) &&
                 llvm::all_of(op->getOperands(), [&](Value v) { return known.contains(v); })) {
        Expression &first = known[op->getOperand(0)];
        auto sources = llvm::map_to_vector(op->getOperands(), [&](Value v) { return known[v].source; });
        Expression whole{composeSource(op, sources), first.first, first.name + weightNameSuffix(op).str()};
        known[op->getResult(0)] = whole;
        done.push_back(op);
      }
    });
    for (Operation *op : done)
      if (isWeightExpression(op) && llvm::any_of(op->getUsers(), [&](Operation *user) {
            return !isWeightExpression(user) || !known.contains(user->getResult(0));
          }))
        replaceByReference(op, known[op->getResult(0)]);
    eraseDead(done);
  }

private:
  /// An expression as a source, the weight of its first leaf, and a name for it.
  struct Expression {
    Attribute source;
    WeightOp first;
    std::string name;
  };

  void replaceByReference(Operation *op, const Expression &expression) {
    WeightOp &weight = bySource[expression.source];
    if (!weight) {
      OpBuilder builder(op->getContext());
      weight = WeightOp::create(builder, op->getLoc(), expression.name, StringAttr(), getSourceType(expression.source),
                                expression.source);
      symbols.insert(weight, std::next(expression.first->getIterator()));
    }
    OpBuilder builder(op);
    Value ref = WeightRefOp::create(builder, op->getLoc(), op->getResult(0).getType(), weight.getSymName());
    op->getResult(0).replaceAllUsesWith(ref);
  }

  SymbolTable &symbols;
  DenseMap<Attribute, WeightOp> bySource;
};

/// Erases the weights that no op names.
void eraseUnusedWeights(ModuleOp module) {
  auto uses = SymbolTable::getSymbolUses(&module.getBodyRegion());
  if (!uses) // an unknown op may use anything
    return;
  DenseSet<StringAttr> used;
  for (SymbolTable::SymbolUse use : *uses)
    used.insert(use.getSymbolRef().getRootReference());
  for (auto weight : llvm::make_early_inc_range(module.getOps<WeightOp>()))
    if (!used.contains(weight.getSymNameAttr()))
      weight.erase();
}

struct HoistWeightExpressions : xfmr::impl::HoistWeightExpressionsBase<HoistWeightExpressions> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    Calls calls(module, symbols);
    WeightFolder folder(module, symbols);
    for (FuncOp function : calls.postorder) {
      if (calls.isClosed(function)) {
        if (failed(hoistToCallers(function, calls.callers.lookup(function))))
          return signalPassFailure();
      } else if (!function.isDeclaration() && !Expressions(function).getRootsByArgument().empty()) {
        remark::missed(function.getLoc(),
                       remark::RemarkOpts::name("HoistWeightExpressions").category("xfmr-hoist-weight-expressions"))
            << remark::reason("'{0}' has uses other than calls from outside it", function.getSymName());
      }
      folder.fold(function);
    }
    eraseUnusedWeights(module);
  }
};

} // namespace
