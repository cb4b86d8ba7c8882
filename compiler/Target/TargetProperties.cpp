//===- TargetProperties.cpp - Properties of rt.target ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/TargetProperties.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace attune;

static bool hasKind(Attribute value, PropertyKind kind) {
  switch (kind) {
  case PropertyKind::Text:
    return isa<StringAttr>(value);
  case PropertyKind::Number:
    return isa<IntegerAttr>(value);
  case PropertyKind::List:
    return isa<ArrayAttr>(value);
  }
  llvm_unreachable("all kinds are handled");
}

Status attune::checkProperties(rt::TargetAttr attribute, ArrayRef<TargetProperty> known) {
  const std::string target = "target '" + attribute.getName().str() + "'";
  for (NamedAttribute entry : attribute.getProperties()) {
    const auto *property = llvm::find_if(known, [&](const TargetProperty &p) { return entry.getName() == p.name; });
    if (property == known.end() && entry.getName() != "precision")
      return Status::error(target + " has no property '" + entry.getName().str() + "'");
    if (property != known.end() && !hasKind(entry.getValue(), property->kind)) {
      static constexpr StringLiteral words[] = {"a string", "a number", "a list"};
      return Status::error("expected '" + property->name.str() + "' to be " + words[static_cast<unsigned>(property->kind)].str());
    }
  }
  for (const TargetProperty &property : known)
    if (property.isRequired && !attribute.getProperties().contains(property.name))
      return Status::error("expected property '" + property.name.str() + "' of " + target);
  return {};
}

Result<xfmr::Precision> attune::readCachePrecision(rt::TargetAttr attribute) {
  StringRef text = attribute.getText(kCachePrecision.name);
  if (text.empty())
    return xfmr::Precision::F32;
  std::optional<xfmr::Precision> known = xfmr::symbolizePrecision(text);
  if (!known)
    return Status::error("expected 'cache_precision' to be f32, bf16, f16 or int8, got '" + text.str() + "'");
  return *known;
}

Result<xfmr::WeightFormats> attune::readWeightFormats(rt::TargetAttr attribute) {
  std::string wrong;
  std::optional<xfmr::WeightFormats> formats = xfmr::WeightFormats::parse(attribute.getText(kWeightsFormat.name), wrong);
  if (!formats)
    return Status::error("'weights_format': " + wrong);
  return *formats;
}

void attune::addTypes(NamedAttrList &properties, const Target &target, MLIRContext *context) {
  auto text = [&](StringRef value) { return StringAttr::get(context, value); };
  properties.set("precision", text(xfmr::stringifyPrecision(target.precision())));
  if (!target.weightFormats().isNative())
    properties.set(kWeightsFormat.name, text(target.weightFormats().str()));
  if (target.cachePrecision() != xfmr::Precision::F32)
    properties.set(kCachePrecision.name, text(xfmr::stringifyPrecision(target.cachePrecision())));
}
