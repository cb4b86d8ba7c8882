//===- GenerationAttr.cpp - Generation settings of a module ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Object/GenerationAttr.h"
#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace attune;

static Attribute toAttribute(Builder &builder, const Json &value) {
  if (value.is_boolean())
    return builder.getBoolAttr(value.get<bool>());
  if (value.is_number_integer())
    return builder.getI64IntegerAttr(value.get<int64_t>());
  if (value.is_number())
    return builder.getF64FloatAttr(value.get<double>());
  if (value.is_string())
    return builder.getStringAttr(value.get<std::string>());
  SmallVector<Attribute> elements;
  for (const Json &element : value)
    elements.push_back(toAttribute(builder, element));
  return builder.getArrayAttr(elements);
}

static Json toJson(Attribute attribute) {
  if (auto flag = dyn_cast<BoolAttr>(attribute))
    return flag.getValue();
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return integer.getValue().getSExtValue();
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return number.getValueAsDouble();
  if (auto text = dyn_cast<StringAttr>(attribute))
    return text.str();
  Json elements = Json::array();
  for (Attribute element : cast<ArrayAttr>(attribute))
    elements.push_back(toJson(element));
  return elements;
}

void attune::writeGenerationAttr(ModuleOp module, const GenerationSettings &settings) {
  Builder builder(module.getContext());
  NamedAttrList attributes;
  for (const auto &[name, value] : settings.values())
    attributes.set(name, toAttribute(builder, value));
  xfmr::ModelAttr model = xfmr::getModel(module);
  xfmr::setModel(module, xfmr::ModelAttr::get(module.getContext(), model.getFamily(), model.getArchitecture(), model.getLimits(),
                                              model.getLabels(), attributes.getDictionary(module.getContext())));
}

Result<std::optional<GenerationSettings>> attune::readGenerationAttr(ModuleOp module) {
  xfmr::ModelAttr model = xfmr::getModel(module);
  if (!model || !model.getGeneration())
    return std::optional<GenerationSettings>();
  GenerationSettings settings;
  for (NamedAttribute named : model.getGeneration())
    if (Status status = settings.set(named.getName().str(), toJson(named.getValue()), "'generation' of 'xfmr.model'"); status.failed())
      return status;
  return std::optional(std::move(settings));
}
