//===- WeightTable.cpp - Parameters as symbols of a module ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/WeightTable.h"

using namespace attune;
using namespace mlir;

WeightTable::WeightTable(const TransformerSpec &spec, const TensorProvider &tensors, ModuleOp module)
    : spec(spec), catalog(spec, tensors), module(module) {}

RankedTensorType WeightTable::typeOf(ParameterId parameter) {
  return RankedTensorType::get(spec.parameters[parameter].shape, Float32Type::get(module.getContext()));
}

Attribute WeightTable::sourceOf(ParameterId parameter) {
  const Parameter &wanted = spec.parameters[parameter];
  Result<const TensorSpec *> found = catalog.find(wanted);
  if (!found && !first.failed())
    first = found.status();
  return xfmr::TensorSourceAttr::get(module.getContext(), found ? (*found)->name : wanted.name, typeOf(parameter));
}

Value WeightTable::get(OpBuilder &builder, ParameterId parameter, std::optional<std::pair<int64_t, int64_t>> rows) {
  if (parameter == noParameter)
    return {};
  std::string symbol = spec.parameters[parameter].name;
  if (rows)
    symbol += "[" + std::to_string(rows->first) + ":" + std::to_string(rows->second) + "]";
  Value &value = values[symbol];
  if (value)
    return value;

  Attribute source = sourceOf(parameter);
  if (rows)
    source = xfmr::SliceSourceAttr::get(builder.getContext(), source, 0, rows->first, rows->second);
  Location loc = NameLoc::get(builder.getStringAttr(symbol));
  RankedTensorType type = xfmr::getSourceType(source);
  OpBuilder declarations = OpBuilder::atBlockBegin(module.getBody());
  if (last)
    declarations.setInsertionPointAfter(last);
  last = xfmr::WeightOp::create(declarations, loc, symbol, StringAttr(), type, source);
  return value = xfmr::WeightRefOp::create(builder, loc, type, symbol);
}
