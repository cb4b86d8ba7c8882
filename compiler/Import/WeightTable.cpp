//===- WeightTable.cpp - Weights of a model as symbols of a module --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/WeightTable.h"

using namespace attune;
using namespace mlir;

WeightTable::WeightTable(const TransformerSpec &spec, const TensorProvider &tensors, ModuleOp module)
    : spec(spec), catalog(spec, tensors), module(module) {}

RankedTensorType WeightTable::typeOf(const WeightSpec &weight) {
  return RankedTensorType::get(weight.shape, Float32Type::get(module.getContext()));
}

Attribute WeightTable::sourceOf(WeightId id) {
  const WeightSpec &weight = spec.weights[id];
  if (weight.standIn != noWeight && !catalog.has(weight) && catalog.hasAll(weight.standIn))
    return sourceOf(weight.standIn);
  MLIRContext *context = module.getContext();
  Builder builder(context);
  SmallVector<Attribute> operands;
  for (WeightId operand : weight.operands)
    operands.push_back(sourceOf(operand));
  auto indices = [&] { return DenseI64ArrayAttr::get(context, weight.indices); };
  switch (weight.kind) {
  case WeightSpec::Tensor: {
    if (weight.absent && !catalog.has(weight))
      return xfmr::FillSourceAttr::get(context, builder.getF32FloatAttr(float(*weight.absent)), typeOf(weight));
    Result<const TensorSpec *> found = catalog.find(weight);
    if (!found && !first.failed())
      first = found.status();
    return xfmr::TensorSourceAttr::get(context, found ? (*found)->name : weight.name, typeOf(weight));
  }
  case WeightSpec::Fill:
    return xfmr::FillSourceAttr::get(context, builder.getF32FloatAttr(float(weight.value)), typeOf(weight));
  case WeightSpec::Computed: {
    NamedAttrList parameters;
    for (const auto &[name, value] : weight.parameters) {
      if (const auto *number = std::get_if<double>(&value))
        parameters.set(name, builder.getF64FloatAttr(*number));
      else if (const auto *word = std::get_if<std::string>(&value))
        parameters.set(name, builder.getStringAttr(*word));
      else
        parameters.set(name, builder.getF64ArrayAttr(std::get<std::vector<double>>(value)));
    }
    if (weight.frequencies != noWeight && catalog.has(spec.weights[weight.frequencies])) {
      Result<std::vector<double>> values = catalog.readValues(spec.weights[weight.frequencies]);
      if (values)
        parameters.set("frequencies", builder.getF64ArrayAttr(*values));
      else if (!first.failed())
        first = values.status();
    }
    return xfmr::ComputedSourceAttr::get(context, weight.table, parameters.getDictionary(context), typeOf(weight));
  }
  case WeightSpec::Slice:
    return xfmr::SliceSourceAttr::get(context, operands[0], weight.axis, weight.indices[0], weight.indices[1]);
  case WeightSpec::Select:
    return xfmr::SelectSourceAttr::get(context, operands[0], weight.axis, indices());
  case WeightSpec::Transpose:
    return xfmr::TransposeSourceAttr::get(context, operands[0], indices());
  case WeightSpec::Reshape:
    return xfmr::ReshapeSourceAttr::get(context, operands[0], DenseI64ArrayAttr::get(context, weight.shape));
  case WeightSpec::Scale:
    return xfmr::ScaleSourceAttr::get(context, operands[0], builder.getF64FloatAttr(weight.value));
  case WeightSpec::Shift:
    return xfmr::ShiftSourceAttr::get(context, operands[0], builder.getF64FloatAttr(weight.value));
  case WeightSpec::Project:
    return xfmr::ProjectSourceAttr::get(context, operands[0], operands[1], operands.size() > 2 ? operands[2] : Attribute());
  case WeightSpec::LayerNorm:
    return xfmr::LayerNormSourceAttr::get(context, operands[0], operands[1], operands[2], builder.getF64FloatAttr(weight.value));
  case WeightSpec::UnitRows:
    return xfmr::UnitRowsSourceAttr::get(context, operands[0]);
  case WeightSpec::Concat:
    return xfmr::ConcatSourceAttr::get(context, weight.axis, builder.getArrayAttr(operands));
  case WeightSpec::Stack:
    return xfmr::StackSourceAttr::get(context, builder.getArrayAttr(operands));
  }
  llvm_unreachable("all kinds of weights are handled");
}

xfmr::WeightOp WeightTable::declare(OpBuilder &builder, WeightId id) {
  xfmr::WeightOp &symbol = symbols[id];
  if (symbol)
    return symbol;
  // Different expressions over one tensor may have the same name; all but the first get a number after it.
  std::string name = spec.weights[id].name;
  for (int number = 2; !names.insert(name).second; ++number)
    name = spec.weights[id].name + "#" + std::to_string(number);
  OpBuilder declarations = OpBuilder::atBlockBegin(module.getBody());
  if (last)
    declarations.setInsertionPointAfter(last);
  Location loc = NameLoc::get(builder.getStringAttr(name));
  symbol = xfmr::WeightOp::create(declarations, loc, name, StringAttr(), typeOf(spec.weights[id]), sourceOf(id), IntegerAttr());
  last = symbol;
  return symbol;
}

Value WeightTable::get(OpBuilder &builder, WeightId id) {
  if (id == noWeight)
    return {};
  Value &value = values[id];
  if (value)
    return value;
  xfmr::WeightOp symbol = declare(builder, id);
  return value = xfmr::WeightRefOp::create(builder, symbol.getLoc(), typeOf(spec.weights[id]), symbol.getSymName());
}
