//===- Surgery.cpp - Parts of one module in another -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Bisect/Surgery.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace attune;

std::vector<std::string> attune::listChangedFunctions(ModuleOp before, ModuleOp after) {
  std::vector<std::string> changed;
  for (auto function : before.getOps<func::FuncOp>()) {
    auto counterpart = after.lookupSymbol<func::FuncOp>(function.getSymName());
    if (counterpart && !function.isExternal() && !counterpart.isExternal() &&
        !OperationEquivalence::isEquivalentTo(function, counterpart, OperationEquivalence::IgnoreLocations))
      changed.push_back(function.getSymName().str());
  }
  return changed;
}

/// Clones the symbols that |op| uses and |target| lacks from |source|, and what these use in turn.
static void cloneUsedSymbols(Operation *op, ModuleOp source, ModuleOp target) {
  SmallVector<Operation *> pending = {op};
  while (!pending.empty()) {
    std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(pending.pop_back_val());
    if (!uses)
      continue;
    for (SymbolTable::SymbolUse use : *uses) {
      StringAttr name = use.getSymbolRef().getRootReference();
      Operation *definition = SymbolTable::lookupSymbolIn(source, name);
      if (!definition || SymbolTable::lookupSymbolIn(target, name))
        continue;
      Operation *copy = definition->clone();
      target.getBody()->push_front(copy);
      pending.push_back(copy);
    }
  }
}

Result<OwningOpRef<ModuleOp>> attune::transplantFunction(ModuleOp before, ModuleOp after, const std::string &name) {
  OwningOpRef<ModuleOp> result = cast<ModuleOp>(before->clone());
  auto old = result->lookupSymbol<func::FuncOp>(name), replacement = after.lookupSymbol<func::FuncOp>(name);
  if (!old || !replacement || old.getFunctionType() != replacement.getFunctionType())
    return Status::error("function '" + name + "' has another type after the pass");
  Operation *copy = replacement->clone();
  result->getBody()->getOperations().insert(Block::iterator(old), copy);
  old.erase();
  cloneUsedSymbols(copy, after, *result);
  return result;
}

/// Returns true if |op| computes tensors or buffers and is no part of another such operation.
static bool isCandidate(Operation *op) {
  if (isa<xfmr::WeightRefOp>(op) || op->getParentOfType<linalg::LinalgOp>())
    return false;
  return isa<linalg::LinalgOp>(op) || isa_and_nonnull<xfmr::XfmrDialect, tiles::TileDialect>(op->getDialect());
}

static std::string describeOp(Operation *op) {
  std::string text = op->getName().getStringRef().str();
  if (tiles::GroupAttr group = tiles::getGroup(op))
    text += " (" + group.getText().str() + ")";
  Type type = op->getNumResults() > 0      ? op->getResult(0).getType()
              : op->getNumOperands() > 0 ? op->getOperand(op->getNumOperands() - 1).getType()
                                         : Type();
  if (type) {
    llvm::raw_string_ostream stream(text);
    stream << " : " << type;
  }
  return text;
}

static SmallVector<Operation *> collectCandidates(func::FuncOp function) {
  SmallVector<Operation *> ops;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isCandidate(op))
      ops.push_back(op);
  });
  return ops;
}

std::vector<Candidate> attune::listCandidates(ModuleOp module, const std::string &name) {
  std::vector<Candidate> candidates;
  if (auto function = module.lookupSymbol<func::FuncOp>(name))
    for (auto [number, op] : llvm::enumerate(collectCandidates(function)))
      candidates.push_back({unsigned(number), describeOp(op), op->getName().getStringRef().str()});
  return candidates;
}

/// Moves |op| to a function of its own, which is returned; a call of the function takes its place.
static func::FuncOp outline(Operation *op, const std::string &name, ModuleOp module) {
  SetVector<Value> inputs;
  inputs.insert(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), inputs);
  OpBuilder builder(module.getContext());
  builder.setInsertionPointToStart(module.getBody());
  auto function = func::FuncOp::create(builder, op->getLoc(), name,
                                       builder.getFunctionType(ValueRange(inputs.getArrayRef()).getTypes(), op->getResultTypes()));
  function.setPrivate();
  Block *body = function.addEntryBlock();
  IRMapping mapping;
  for (auto [input, argument] : llvm::zip(inputs, body->getArguments()))
    mapping.map(input, argument);
  builder.setInsertionPointToStart(body);
  Operation *copy = builder.clone(*op, mapping);
  func::ReturnOp::create(builder, op->getLoc(), copy->getResults());
  builder.setInsertionPoint(op);
  auto call = func::CallOp::create(builder, op->getLoc(), function, inputs.getArrayRef());
  op->replaceAllUsesWith(call);
  op->erase();
  return function;
}

Result<OwningOpRef<ModuleOp>> attune::runPassOnOps(ModuleOp module, const std::string &name,
                                                   llvm::function_ref<bool(const Candidate &)> visible, const PassStep &step,
                                                   const PassHook &hook) {
  OwningOpRef<ModuleOp> result = cast<ModuleOp>(module->clone());
  auto function = result->lookupSymbol<func::FuncOp>(name);
  std::vector<Candidate> candidates = listCandidates(*result, name);
  SmallVector<Operation *> ops = collectCandidates(function);
  std::vector<OwningOpRef<func::FuncOp>> hidden;
  for (auto [candidate, op] : llvm::zip(candidates, ops)) {
    if (visible(candidate))
      continue;
    func::FuncOp part = outline(op, "bisect_part_" + std::to_string(candidate.number), *result);
    hidden.emplace_back(part.clone());
    part.eraseBody();
  }
  if (Status status = runPass(*result, step, hook); status.failed())
    return status;
  for (OwningOpRef<func::FuncOp> &part : hidden) {
    auto declaration = result->lookupSymbol<func::FuncOp>(part->getSymName());
    if (!declaration)
      continue; // nothing uses it any more
    if (declaration.getFunctionType() != part->getFunctionType())
      return Status::error("the pass changes the types of '" + part->getSymName().str() + "'");
    result->getBody()->getOperations().insert(Block::iterator(declaration), part.release());
    declaration.erase();
  }
  return result;
}
