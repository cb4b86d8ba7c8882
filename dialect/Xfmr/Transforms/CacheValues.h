//===- CacheValues.h - The caches of a module and their types ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_XFMR_TRANSFORMS_CACHEVALUES_H
#define ATTUNE_DIALECT_XFMR_TRANSFORMS_CACHEVALUES_H

#include "dialect/Xfmr/Transforms/FunctionUsers.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::xfmr {

/// The values of a module that are caches of keys or values: arguments and results of entries and of the functions that
/// they call, and operands and results of `kv_cache_update`. A pass that changes the type of caches changes all of
/// them.
class CacheValues {
public:
  explicit CacheValues(ModuleOp module) : module(module), symbols(module), users(module, symbols) {}

  /// Finds the caches. Fails, with an error, if a cache is an operand of a call of an external function, or of an
  /// operation other than calls, `func.return`, `tensor.dim`, `attention`, `kv_cache_update` and `kv_cache_read`. The
  /// error says that the cache is |change|, for example "divided among ranks".
  LogicalResult collect(StringRef change);
  /// Gives each cache the type that |convert| returns for its type, and changes the types of functions and the sizes in
  /// their attributes accordingly. Other operands and results of the users of caches keep their types.
  void setTypes(llvm::function_ref<RankedTensorType(RankedTensorType)> convert);

private:
  LogicalResult addUsers(Value cache, StringRef change);
  void addSources(Value cache);

  ModuleOp module;
  SymbolTable symbols;
  FunctionUsers users;
  llvm::SetVector<Value> caches;
};

} // namespace mlir::xfmr

#endif // ATTUNE_DIALECT_XFMR_TRANSFORMS_CACHEVALUES_H
