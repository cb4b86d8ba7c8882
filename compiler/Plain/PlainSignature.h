//===- PlainSignature.h - Arguments of the entries of a module --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The arguments and results of the entries of a module. The kind of each is read from its attributes, not from its
// position, since phases change signatures, for example when results become arguments.
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
  /// The name in the C API; for SessionDim, the name of the dim; "" for Role.
  std::string name;
  /// The dimensions in order: the name of a dynamic one, the size of a static one.
  std::vector<std::variant<std::string, int64_t>> dims;
  mlir::Type elementType;
  mlir::xfmr::InputDefault fill = mlir::xfmr::InputDefault::Required;
  int64_t maxValue = 0;
  bool isGroup = false;
  mlir::rt::Role role = mlir::rt::Role::Host;
};

/// An entry: its name in the C API, the name of its function, and its arguments and results.
struct PlainEntry {
  std::string name, symbol;
  mlir::xfmr::CacheUse cacheUse = mlir::xfmr::CacheUse::Unused;
  std::vector<PlainArgument> arguments, results;
  /// The names of the dims of inputs, outputs and SessionDim arguments, in the order of attune_entry_desc::dims.
  std::vector<std::string> dims;
  /// The formula of the bytes of workspace; null before the phase `bufferized`.
  mlir::xfmr::FormulaAttr workspace;

  /// Returns the outputs in the order of the C API. They are results or, from the phase `bufferized` on, arguments.
  std::vector<const PlainArgument *> outputs() const;
};

/// The entries of a module.
struct PlainSignature {
  std::vector<PlainEntry> entries;
  /// Returns the entry |name|, or an error that lists the entries.
  Result<const PlainEntry *> entry(const std::string &name) const;
};

/// Reads the entries of |module|, IR of the phases `import` to `vector`. The returned attributes belong to the context
/// of |module|. Fails if there is no entry, if no attribute defines the kind of an argument or result of an entry, or
/// if an argument has a type that the plain path does not support.
Result<PlainSignature> readPlainSignature(mlir::ModuleOp module);

/// Returns the value of |formula| for the dims |dims|: the largest of the results of its affine map, at least 0. A dim
/// that |dims| lacks counts as 0.
int64_t evaluateFormula(mlir::xfmr::FormulaAttr formula, const std::map<std::string, int64_t> &dims);

} // namespace attune

#endif // ATTUNE_COMPILER_PLAIN_PLAINSIGNATURE_H
