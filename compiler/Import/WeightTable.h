//===- WeightTable.h - Weights of a model as symbols of a module -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Declares an `xfmr.weight` for each weight that is used, at its first use, and refers to it from the entries.
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

  /// Starts another entry: values of the one before are not used any more.
  void beginEntry() { values.clear(); }

  /// The value of |weight| (null for noWeight) where |builder|, which is in the body of the entry, stands. After an error the value still
  /// has the right type, so that building goes on.
  mlir::Value get(mlir::OpBuilder &builder, WeightId weight);

  /// The first weight that was missing or wrong, or success.
  const Status &status() const { return first; }

private:
  mlir::RankedTensorType typeOf(const WeightSpec &weight);
  /// The source of |weight|; records an error if the files lack a tensor of it.
  mlir::Attribute sourceOf(WeightId weight);
  /// The symbol of |weight|, declared if it is new.
  mlir::xfmr::WeightOp declare(mlir::OpBuilder &builder, WeightId weight);

  const TransformerSpec &spec;
  WeightCatalog catalog;
  mlir::ModuleOp module;
  /// The last weight of the module, behind which the next one stands.
  mlir::Operation *last = nullptr;
  std::map<WeightId, mlir::xfmr::WeightOp> symbols;
  std::set<std::string> names;
  std::map<WeightId, mlir::Value> values;
  Status first;
};

} // namespace attune

#endif // ATTUNE_IMPORT_WEIGHTTABLE_H
