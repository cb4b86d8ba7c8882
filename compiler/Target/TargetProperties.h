//===- TargetProperties.h - Properties of rt.target ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_TARGETPROPERTIES_H
#define ATTUNE_COMPILER_TARGET_TARGETPROPERTIES_H

#include "compiler/Target/Target.h"

namespace attune {

/// The kinds of values that a property may have.
enum class PropertyKind { Text, Number, List };

/// A property that a target accepts in its `rt.target` attribute.
struct TargetProperty {
  llvm::StringLiteral name;
  PropertyKind kind;
  bool isRequired;
};

/// Returns an error if |attribute| has other properties than |known| and `precision`, has one with a value of the wrong
/// kind, or lacks one that is required.
Status checkProperties(mlir::rt::TargetAttr attribute, llvm::ArrayRef<TargetProperty> known);

/// The properties with the element type of caches and with the formats of weights. A target with caches of f32 omits
/// the first; one whose weights all have their native formats (xfmr::WeightFormats::isNative) omits the second.
inline constexpr TargetProperty kCachePrecision = {"cache_precision", PropertyKind::Text, false},
                                kWeightsFormat = {"weights_format", PropertyKind::Text, false};
/// Return the values of these properties, f32 and native formats if they are absent; or an error if the text is not the
/// name of an element type, or not a list of formats.
Result<mlir::xfmr::Precision> readCachePrecision(mlir::rt::TargetAttr attribute);
Result<mlir::xfmr::WeightFormats> readWeightFormats(mlir::rt::TargetAttr attribute);
/// Adds the properties of |target| that every target has to |properties|: `precision`, and kCachePrecision and
/// kWeightsFormat unless they are to be omitted.
void addTypes(mlir::NamedAttrList &properties, const Target &target, mlir::MLIRContext *context);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_TARGETPROPERTIES_H
