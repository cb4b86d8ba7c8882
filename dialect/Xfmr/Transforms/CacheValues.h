//===- CacheValues.h - The caches of a module and their types ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_XFMR_TRANSFORMS_CACHEVALUES_H
#define ATTUNE_DIALECT_XFMR_TRANSFORMS_CACHEVALUES_H

#include "dialect/Xfmr/Transforms/FunctionUsers.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::xfmr {

/// The values of a module that are caches of keys or values: arguments and results of entries, of the functions that
/// they call, and of `kv_cache_update`. A pass that changes the type of caches changes all of them.
class CacheValues {
public:
  explicit CacheValues(ModuleOp module) : module(module), symbols(module), users(module, symbols) {}

  /// Finds the caches. Fails, with an error, if one reaches an external function, or an operation other than a call, a
  /// return, `tensor.dim` and the operations on caches; the error says that the cache is |change|, for example "divided
  /// among ranks".
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
