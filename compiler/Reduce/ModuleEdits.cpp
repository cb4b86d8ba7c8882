//===- ModuleEdits.cpp - Erasing parts of modules -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Reduce/ModuleEdits.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace attune;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

bool ModuleEdits::isDoomed(Operation *op) const {
  for (; op; op = op->getParentOp())
    if (doomed.contains(op))
      return true;
  return false;
}

Value ModuleEdits::findValue(Type type, Operation *before, bool mayAdd, Value except) {
  auto fits = [&](Value value) {
    return value.getType() == type && value != except && !(value.getDefiningOp() && isDoomed(value.getDefiningOp()));
  };
  for (Value operand : before->getOperands())
    if (fits(operand))
      return operand;
  Operation *at = before;
  for (; at->getBlock() && !isa<ModuleOp>(at->getParentOp()); at = at->getParentOp()) {
    for (Value argument : at->getBlock()->getArguments())
      if (fits(argument))
        return argument;
    for (Operation &earlier : llvm::make_range(at->getBlock()->begin(), Block::iterator(at)))
      for (Value result : earlier.getResults())
        if (fits(result))
          return result;
    if (at->getParentOp()->hasTrait<OpTrait::IsIsolatedFromAbove>())
      break;
  }
  OpBuilder builder(before);
  if (type.isIntOrIndexOrFloat())
    return arith::ConstantOp::create(builder, before->getLoc(), type, cast<TypedAttr>(builder.getOneAttr(type)));
  auto function = dyn_cast_or_null<func::FuncOp>(at->getParentOp());
  return mayAdd && function && !growing.contains(function) ? addArgument(function, type) : Value();
}

Value ModuleEdits::findOrMakeValue(Type type, Operation *before) {
  if (Value value = findValue(type, before))
    return value;
  OpBuilder builder(before);
  return ub::PoisonOp::create(builder, before->getLoc(), type, ub::PoisonAttr::get(type.getContext()));
}

Value ModuleEdits::addArgument(func::FuncOp function, Type type) {
  growing.insert(function);
  unsigned index = function.getNumArguments();
  (void)function.insertArgument(index, type, {}, function.getLoc());
  for (func::CallOp call : findCalls(function))
    call->insertOperands(index, findOrMakeValue(type, call));
  growing.remove(function);
  return function.getArgument(index);
}

SmallVector<func::CallOp> ModuleEdits::findCalls(func::FuncOp function) {
  SmallVector<func::CallOp> calls;
  module.walk([&](func::CallOp call) {
    if (call.getCallee() == function.getSymName())
      calls.push_back(call);
  });
  return calls;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void ModuleEdits::replaceAndErase(Operation *op) {
  for (Value result : op->getResults())
    if (!result.use_empty())
      result.replaceAllUsesWith(findOrMakeValue(result.getType(), op));
  doomed.remove(op);
  op->erase();
}

void ModuleEdits::eraseOps(const llvm::SetVector<Operation *> &ops) {
  doomed = ops;
  // Erases users before producers, since a value without users needs no replacement. An operation whose parent is
  // erased, too, is erased with the parent.
  for (Operation *op : llvm::reverse(ops.getArrayRef())) {
    if (isDoomed(op->getParentOp()) || op->hasTrait<OpTrait::IsTerminator>() || isa<SymbolOpInterface>(op) || !op->getBlock())
      continue;
    op->walk([&](Operation *nested) {
      if (nested != op)
        doomed.remove(nested);
    });
    replaceAndErase(op);
  }
  doomed.clear();
}

void ModuleEdits::eraseSymbol(Operation *symbol) {
  llvm::SetVector<Operation *> users;
  if (std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(symbol, &module.getBodyRegion()))
    for (SymbolTable::SymbolUse use : *uses)
      if (!symbol->isAncestor(use.getUser()))
        users.insert(use.getUser());
  eraseOps(users);
  symbol->erase();
}

void ModuleEdits::eraseBody(func::FuncOp function) {
  function.getBody().dropAllReferences();
  function.getBody().getBlocks().clear();
  function.setPrivate();
}

void ModuleEdits::inlineRegion(Operation *op, Region &region) {
  Block &body = region.front();
  for (BlockArgument argument : body.getArguments())
    if (!argument.use_empty())
      argument.replaceAllUsesWith(findOrMakeValue(argument.getType(), op));
  Operation *terminator = body.mightHaveTerminator() ? body.getTerminator() : nullptr;
  SmallVector<Value> results;
  if (terminator && TypeRange(terminator->getOperandTypes()) == TypeRange(op->getResultTypes()))
    llvm::append_range(results, terminator->getOperands());
  if (terminator)
    terminator->erase();
  op->getBlock()->getOperations().splice(Block::iterator(op), body.getOperations());
  if (results.size() == op->getNumResults())
    op->replaceAllUsesWith(results);
  replaceAndErase(op);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

void ModuleEdits::eraseArgument(func::FuncOp function, unsigned index) {
  if (!function.isExternal()) {
    BlockArgument argument = function.getArgument(index);
    if (!argument.use_empty()) {
      Value other = findValue(argument.getType(), &function.getBody().front().front(), /*mayAdd=*/false, argument);
      if (!other)
        return;
      argument.replaceAllUsesWith(other);
    }
  }
  if (failed(function.eraseArgument(index)))
    return;
  for (func::CallOp call : findCalls(function))
    call->eraseOperand(index);
}

void ModuleEdits::eraseResult(func::FuncOp function, unsigned index) {
  if (failed(function.eraseResult(index)))
    return;
  function.walk([&](func::ReturnOp end) { end->eraseOperand(index); });
  for (func::CallOp call : findCalls(function)) {
    OpBuilder builder(call);
    Value gone = call.getResult(index);
    if (!gone.use_empty())
      gone.replaceAllUsesWith(findOrMakeValue(gone.getType(), call));
    auto other = func::CallOp::create(builder, call.getLoc(), function, call.getOperands());
    unsigned left = 0;
    for (OpResult result : call.getResults())
      if (result.getResultNumber() != index)
        result.replaceAllUsesWith(other.getResult(left++));
    call.erase();
  }
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

void attune::resizeEverywhere(ModuleOp module, int64_t from, int64_t to, bool numbers) {
  auto ignored = [&] { return emitError(UnknownLoc::get(module.getContext())); };
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
  auto changed = [&](ShapedType type) {
    SmallVector<int64_t> shape(type.getShape());
    llvm::replace(shape, from, to);
    return shape;
  };
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](RankedTensorType type) -> Type { return type.clone(changed(type)); });
  replacer.addReplacement([&](MemRefType type) -> Type {
    Type other = MemRefType::getChecked(ignored, changed(type), type.getElementType(), type.getLayout(), type.getMemorySpace());
    return other ? other : type;
  });
  replacer.addReplacement([&](VectorType type) -> Type {
    // Vectors keep their size if |to| is larger, since upstream MLIR cannot lower vectors of 2^32 elements.
    return to > 0 && to <= 4096 ? VectorType::get(changed(type), type.getElementType(), type.getScalableDims()) : type;
  });
  if (numbers && !ShapedType::isDynamic(to)) {
    replacer.addReplacement([&](IntegerAttr number) -> Attribute {
      Type type = number.getType();
      return (type.isIndex() || type.isInteger(64)) && number.getInt() == from ? IntegerAttr::get(type, to) : number;
    });
    replacer.addReplacement([&](DenseI64ArrayAttr array) -> Attribute {
      SmallVector<int64_t> values(array.asArrayRef());
      llvm::replace(values, from, to);
      return DenseI64ArrayAttr::get(array.getContext(), values);
    });
  }
  // The dims in the attributes of inputs, outputs and caches must agree with the types, so they change. Other
  // attributes of xfmr stay: the parts of a weight source must fit together, so the weight gets a new source below.
  // Dense constants stay, since they must keep their number of elements.
  auto changedDims = [&](ArrayAttr dims) {
    return ArrayAttr::get(dims.getContext(), llvm::map_to_vector(dims, [&](Attribute dim) -> Attribute {
                            auto size = dyn_cast<IntegerAttr>(dim);
                            bool changes = size && size.getInt() == from && !ShapedType::isDynamic(to);
                            return changes ? IntegerAttr::get(size.getType(), to) : dim;
                          }));
  };
  replacer.addReplacement([&](Attribute attribute) -> std::optional<std::pair<Attribute, WalkResult>> {
    MLIRContext *context = attribute.getContext();
    if (auto input = dyn_cast<xfmr::InputAttr>(attribute))
      return std::pair(
          xfmr::InputAttr::get(context, input.getName(), changedDims(input.getDims()), input.getDefaultValue(), input.getMaxValue()),
          WalkResult::skip());
    if (auto output = dyn_cast<xfmr::OutputAttr>(attribute))
      return std::pair(xfmr::OutputAttr::get(context, output.getName(), changedDims(output.getDims()), output.getIsGroup()),
                       WalkResult::skip());
    if (auto cache = dyn_cast<xfmr::CacheAttr>(attribute))
      return std::pair(xfmr::CacheAttr::get(context, cache.getName(), changedDims(cache.getDims())), WalkResult::skip());
    if (isa<xfmr::XfmrDialect>(attribute.getDialect()) || isa<DenseElementsAttr>(attribute))
      return std::pair(attribute, WalkResult::skip());
    return std::nullopt;
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);
  for (auto weight : module.getOps<xfmr::WeightOp>())
    if (auto type = dyn_cast<RankedTensorType>(weight.getType()); type && xfmr::getSourceType(weight.getSource()) != type)
      weight.setSourceAttr(xfmr::TensorSourceAttr::get(module.getContext(), weight.getSymName(), type));
}
