//===- WeightTable.h - Parameters as symbols of a module --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Declares an `xfmr.weight` for each parameter that is used, at its first use, and refers to it from the entry.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_WEIGHTTABLE_H
#define ATTUNE_IMPORT_WEIGHTTABLE_H

#include "compiler/Import/WeightCatalog.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace attune {

/// The weights of one module and one entry of it.
class WeightTable {
public:
  WeightTable(const TransformerSpec &spec, const TensorProvider &tensors, mlir::ModuleOp module);

  /// The value of |parameter| (null for noParameter) where |builder| stands, or only rows [first, second) of it. After an error the value
  /// still has the right type, so that building goes on.
  mlir::Value get(mlir::OpBuilder &builder, ParameterId parameter, std::optional<std::pair<int64_t, int64_t>> rows = std::nullopt);

  /// The type of |parameter| in the module.
  mlir::RankedTensorType typeOf(ParameterId parameter);

  /// The first parameter that was missing or wrong, or success.
  const Status &status() const { return first; }

private:
  /// The source of |parameter|; records an error if the files lack it.
  mlir::Attribute sourceOf(ParameterId parameter);

  const TransformerSpec &spec;
  WeightCatalog catalog;
  mlir::ModuleOp module;
  /// The last weight of the module, behind which the next one stands.
  mlir::Operation *last = nullptr;
  std::map<std::string, mlir::Value> values;
  Status first;
};

} // namespace attune

#endif // ATTUNE_IMPORT_WEIGHTTABLE_H
