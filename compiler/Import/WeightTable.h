//===- WeightTable.h - Weights of a model as symbols of a module -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Declares an `xfmr.weight` for each weight at its first use, and references to it in the entries.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_WEIGHTTABLE_H
#define ATTUNE_IMPORT_WEIGHTTABLE_H

#include "compiler/Import/WeightCatalog.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <set>

namespace attune {

/// The weights of one module.
class WeightTable {
public:
  WeightTable(const TransformerSpec &spec, const TensorProvider &tensors, mlir::ModuleOp module);

  /// Begins another entry: get creates new values, as an entry cannot use the values of the entry before.
  void beginEntry() { values.clear(); }

  /// Returns the value of |weight| in the present entry; null for noWeight. The first call for a weight creates its
  /// `xfmr.weight_ref` at the insertion point of |builder|. After an error the value still has the right type, so that
  /// building can continue.
  mlir::Value get(mlir::OpBuilder &builder, WeightId weight);

  /// Returns the error for the first weight that was missing or wrong, or success.
  const Status &status() const { return first; }

private:
  mlir::RankedTensorType typeOf(const WeightSpec &weight);
  /// Returns the attribute that says how |weight| is computed (`#xfmr.tensor`, `#xfmr.slice`, …). Records an error if
  /// the files lack a tensor of it or have it with another type or shape.
  mlir::Attribute sourceOf(WeightId weight);
  /// Returns the symbol of |weight|, declared at its first use.
  mlir::xfmr::WeightOp declare(mlir::OpBuilder &builder, WeightId weight);

  const TransformerSpec &spec;
  WeightCatalog catalog;
  mlir::ModuleOp module;
  /// The last weight of the module; the next one is inserted after it.
  mlir::Operation *last = nullptr;
  std::map<WeightId, mlir::xfmr::WeightOp> symbols;
  std::set<std::string> names;
  std::map<WeightId, mlir::Value> values;
  Status first;
};

} // namespace attune

#endif // ATTUNE_IMPORT_WEIGHTTABLE_H
