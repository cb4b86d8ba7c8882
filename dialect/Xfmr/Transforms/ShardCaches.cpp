//===- ShardCaches.cpp - Caches of the heads of one rank ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A cache has one number of heads everywhere: in the entry, in the functions of layers and in the results that they
// return. The number for a rank depends on the number of all heads alone (`divideHeads`), so the new type of a value
// that is a cache follows from its old type.
//
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/Transforms/ShardCaches.h"
#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "dialect/Xfmr/Transforms/Division.h"
#include "dialect/Xfmr/Transforms/FunctionUsers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::xfmr;

namespace {
/// The values of a module that are caches of keys or values.
class CacheValues {
public:
  explicit CacheValues(ModuleOp module) : module(module), symbols(module), users(module, symbols) {}

  LogicalResult collect();
  void setHeads(int64_t ranks);

private:
  LogicalResult addUsers(Value cache);
  void addSources(Value cache);

  ModuleOp module;
  SymbolTable symbols;
  FunctionUsers users;
  llvm::SetVector<Value> caches;
};
} // namespace

/// Adds the values that users of |cache| make of it: arguments of callees, results of calls, updated caches.
LogicalResult CacheValues::addUsers(Value cache) {
  for (OpOperand &use : cache.getUses()) {
    Operation *user = use.getOwner();
    unsigned index = use.getOperandNumber();
    if (auto call = dyn_cast<func::CallOp>(user)) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      if (!callee || callee.isExternal())
        return call.emitError("a cache that is divided among ranks is passed to '") << call.getCallee() << "', which has no body";
      caches.insert(callee.getArgument(index));
    } else if (isa<func::ReturnOp>(user)) {
      for (func::CallOp call : users.getCalls(user->getParentOfType<func::FuncOp>()))
        caches.insert(call.getResult(index));
    } else if (auto update = dyn_cast<KvCacheUpdateOp>(user)) {
      caches.insert(use.get() == update.getKeyCache() ? update.getNewKeyCache() : update.getNewValueCache());
    } else if (!isa<AttentionOp, KvCacheReadOp, tensor::DimOp>(user)) {
      return user->emitOpError("reads a cache that is divided among ranks, expected attention or an operation on caches");
    }
  }
  return success();
}

/// Adds the values that |cache| comes from: for an argument, the operands of calls; for the result of a call, the value
/// that the callee returns.
void CacheValues::addSources(Value cache) {
  if (auto argument = dyn_cast<BlockArgument>(cache)) {
    if (auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()))
      for (func::CallOp call : users.getCalls(function))
        caches.insert(call.getOperand(argument.getArgNumber()));
    return;
  }
  auto call = cache.getDefiningOp<func::CallOp>();
  auto callee = call ? symbols.lookup<func::FuncOp>(call.getCallee()) : func::FuncOp();
  if (callee && !callee.isExternal())
    caches.insert(callee.getBody().front().getTerminator()->getOperand(cast<OpResult>(cache).getResultNumber()));
}

LogicalResult CacheValues::collect() {
  module.walk([&](Operation *op) {
    if (auto function = dyn_cast<func::FuncOp>(op)) {
      for (BlockArgument argument : function.getArguments())
        if (CacheAttr cache = getCache(function, argument.getArgNumber()); cache && cache.getDims().size() > 2)
          caches.insert(argument);
    } else if (auto update = dyn_cast<KvCacheUpdateOp>(op)) {
      caches.insert(update.getKeyCache());
      caches.insert(update.getValueCache());
    } else if (auto read = dyn_cast<KvCacheReadOp>(op)) {
      caches.insert(read.getKeyCache());
      caches.insert(read.getValueCache());
    } else if (auto attention = dyn_cast<AttentionOp>(op); attention && attention.isCached()) {
      caches.insert(attention.getKey());
      caches.insert(attention.getValue());
    }
  });
  for (unsigned i = 0; i != caches.size(); ++i) {
    addSources(caches[i]);
    if (failed(addUsers(caches[i])))
      return failure();
  }
  return success();
}

/// Returns |cache| with the number of heads of |type|.
static CacheAttr withHeadsOf(CacheAttr cache, RankedTensorType type) {
  SmallVector<Attribute> dims(cache.getDims().getValue());
  dims[1] = IntegerAttr::get(IntegerType::get(cache.getContext(), 64), type.getDimSize(1));
  return CacheAttr::get(cache.getContext(), cache.getName(), ArrayAttr::get(cache.getContext(), dims));
}

void CacheValues::setHeads(int64_t ranks) {
  for (Value cache : caches) {
    auto type = cast<RankedTensorType>(cache.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[1] = divideHeads(shape[1], shape[1], ranks).keyValue.size;
    cache.setType(type.clone(shape));
  }
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    Block &body = function.getBody().front();
    auto results = llvm::to_vector(body.getTerminator()->getOperandTypes());
    function.setFunctionType(FunctionType::get(module.getContext(), body.getArgumentTypes(), results));
    for (BlockArgument argument : function.getArguments())
      if (CacheAttr cache = getCache(function, argument.getArgNumber()); cache && caches.contains(argument))
        function.setArgAttr(argument.getArgNumber(), CacheAttr::name, withHeadsOf(cache, cast<RankedTensorType>(argument.getType())));
    for (auto [index, type] : llvm::enumerate(results))
      if (CacheAttr cache = getResultCache(function, index); cache && cache.getDims().size() > 2)
        function.setResultAttr(index, CacheAttr::name, withHeadsOf(cache, cast<RankedTensorType>(type)));
  }
}

LogicalResult mlir::xfmr::shardCaches(ModuleOp module, int64_t ranks) {
  CacheValues caches(module);
  if (failed(caches.collect()))
    return failure();
  caches.setHeads(ranks);
  return success();
}
