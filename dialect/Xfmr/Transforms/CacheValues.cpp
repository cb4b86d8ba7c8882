//===- CacheValues.cpp - The caches of a module and their types -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/Transforms/CacheValues.h"
#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "dialect/Xfmr/IR/XfmrOps.h"

using namespace mlir;
using namespace mlir::xfmr;

/// Adds the values to which users forward |cache|: arguments of callees, results of calls, the results of
/// kv_cache_update. Fails, with an error that names |change|, as collect does.
LogicalResult CacheValues::addUsers(Value cache, StringRef change) {
  for (OpOperand &use : cache.getUses()) {
    Operation *user = use.getOwner();
    unsigned index = use.getOperandNumber();
    if (auto call = dyn_cast<func::CallOp>(user)) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      if (!callee || callee.isExternal())
        return call.emitError("a cache that is ") << change << " is passed to '" << call.getCallee() << "', which has no body";
      caches.insert(callee.getArgument(index));
    } else if (isa<func::ReturnOp>(user)) {
      for (func::CallOp call : users.getCalls(user->getParentOfType<func::FuncOp>()))
        caches.insert(call.getResult(index));
    } else if (auto update = dyn_cast<KvCacheUpdateOp>(user)) {
      caches.insert(use.get() == update.getKeyCache() ? update.getNewKeyCache() : update.getNewValueCache());
    } else if (!isa<AttentionOp, KvCacheReadOp, tensor::DimOp>(user)) {
      return user->emitOpError("reads a cache that is ") << change << ", expected attention or an operation on caches";
    }
  }
  return success();
}

/// Adds the values that become |cache|: for a function argument, the operands of all calls; for the result of a call,
/// the value that the callee returns.
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

LogicalResult CacheValues::collect(StringRef change) {
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
    if (failed(addUsers(caches[i], change)))
      return failure();
  }
  return success();
}

/// Returns |cache| with each dimension whose size is static in |type| replaced by this size.
static CacheAttr withSizesOf(CacheAttr cache, RankedTensorType type) {
  SmallVector<Attribute> dims(cache.getDims().getValue());
  for (auto [dim, size] : llvm::zip_equal(dims, type.getShape()))
    if (!ShapedType::isDynamic(size))
      dim = IntegerAttr::get(IntegerType::get(cache.getContext(), 64), size);
  return CacheAttr::get(cache.getContext(), cache.getName(), ArrayAttr::get(cache.getContext(), dims));
}

void CacheValues::setTypes(llvm::function_ref<RankedTensorType(RankedTensorType)> convert) {
  for (Value cache : caches)
    cache.setType(convert(cast<RankedTensorType>(cache.getType())));
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    Block &body = function.getBody().front();
    auto results = llvm::to_vector(body.getTerminator()->getOperandTypes());
    function.setFunctionType(FunctionType::get(module.getContext(), body.getArgumentTypes(), results));
    for (BlockArgument argument : function.getArguments())
      if (CacheAttr cache = getCache(function, argument.getArgNumber()); cache && caches.contains(argument))
        function.setArgAttr(argument.getArgNumber(), CacheAttr::name, withSizesOf(cache, cast<RankedTensorType>(argument.getType())));
    for (auto [index, type] : llvm::enumerate(results))
      if (CacheAttr cache = getResultCache(function, index); cache && cache.getDims().size() > 2)
        function.setResultAttr(index, CacheAttr::name, withSizesOf(cache, cast<RankedTensorType>(type)));
  }
}
