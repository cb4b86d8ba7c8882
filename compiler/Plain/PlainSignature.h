//===- PlainSignature.h - Arguments of the entries of a module --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The arguments and results of the entries of a module. Their attributes say what each of them is; positions do not,
// since phases change signatures, for example when results become arguments.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PLAIN_PLAINSIGNATURE_H
#define ATTUNE_COMPILER_PLAIN_PLAINSIGNATURE_H

#include "compiler/Plain/PlainBuffer.h"
#include "compiler/Support/Status.h"
#include "dialect/Rt/IR/RtAttrs.h"
#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <variant>

namespace attune {

/// One argument or result of an entry.
struct PlainArgument {
  enum class Kind { Input, Output, Cache, SessionDim, Role } kind;
  /// The name in the C API; of a session dim, the name of the dim.
  std::string name;
  /// The name of each dynamic dimension, the size of each static one.
  std::vector<std::variant<std::string, int64_t>> dims;
  mlir::Type elementType;
  mlir::xfmr::InputDefault fill = mlir::xfmr::InputDefault::Required;
  int64_t maxValue = 0;
  bool isGroup = false;
  mlir::rt::Role role = mlir::rt::Role::Host;
};

/// One entry.
struct PlainEntry {
  std::string name, symbol;
  mlir::xfmr::CacheUse cacheUse = mlir::xfmr::CacheUse::Unused;
  std::vector<PlainArgument> arguments, results;
  /// The names of dims in the order of the C API.
  std::vector<std::string> dims;
  /// The bytes of workspace; null before memory is planned.
  mlir::xfmr::FormulaAttr workspace;

  /// Returns the outputs in the order of the C API: results, or, after bufferization, arguments.
  std::vector<const PlainArgument *> outputs() const;
};

/// The entries of a module.
struct PlainSignature {
  std::vector<PlainEntry> entries;
  /// Returns the entry |name|, or an error that lists the entries.
  Result<const PlainEntry *> entry(const std::string &name) const;
};

/// Reads the entries of |module|, IR of the phases `import` to `vector`. Attributes belong to the context of |module|.
/// Fails if there is no entry, or if an argument has no attribute or a type that the plain path does not support.
Result<PlainSignature> readPlainSignature(mlir::ModuleOp module);

/// Returns the value of |formula|, the largest of its results and 0, for the values |dims|; a dim that |dims| lacks is
/// 0.
int64_t evaluateFormula(mlir::xfmr::FormulaAttr formula, const std::map<std::string, int64_t> &dims);

} // namespace attune

#endif // ATTUNE_COMPILER_PLAIN_PLAINSIGNATURE_H
