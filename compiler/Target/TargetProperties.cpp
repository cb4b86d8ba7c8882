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

void attune::addCachePrecision(NamedAttrList &properties, xfmr::Precision precision, MLIRContext *context) {
  if (precision != xfmr::Precision::F32)
    properties.set(kCachePrecision.name, StringAttr::get(context, xfmr::stringifyPrecision(precision)));
}
