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

/// Returns an error if |attribute| has a property that is neither in |known| nor `precision`, has one of |known| with a
/// value of the wrong kind, or lacks a required one.
Status checkProperties(mlir::rt::TargetAttr attribute, llvm::ArrayRef<TargetProperty> known);

/// The properties for the element type of caches and for the formats of weights. A target with caches of f32 omits the
/// first. A target whose weights all have the native format (xfmr::WeightFormats::isNative) omits the second.
inline constexpr TargetProperty kCachePrecision = {"cache_precision", PropertyKind::Text, false},
                                kWeightsFormat = {"weights_format", PropertyKind::Text, false};
/// Returns the value of kCachePrecision, f32 if |attribute| lacks it. An error if the value names no xfmr::Precision.
Result<mlir::xfmr::Precision> readCachePrecision(mlir::rt::TargetAttr attribute);
/// Returns the value of kWeightsFormat, native formats if |attribute| lacks it. An error if the value is no list of
/// formats.
Result<mlir::xfmr::WeightFormats> readWeightFormats(mlir::rt::TargetAttr attribute);
/// Adds the properties that all targets share to |properties|, with the values of |target|: `precision`, and
/// kCachePrecision and kWeightsFormat unless |target| omits them (see above).
void addTypes(mlir::NamedAttrList &properties, const Target &target, mlir::MLIRContext *context);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_TARGETPROPERTIES_H
