//===- TargetProperties.h - Properties of rt.target ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_TARGETPROPERTIES_H
#define ATTUNE_COMPILER_TARGET_TARGETPROPERTIES_H

#include "compiler/Support/Status.h"
#include "dialect/Rt/IR/RtAttrs.h"

namespace attune {

/// The kinds of values that a property may have.
enum class PropertyKind { Text, Number, List };

/// A property of a target.
struct TargetProperty {
  llvm::StringLiteral name;
  PropertyKind kind;
  bool isRequired;
};

/// Returns an error if |attribute| has other properties than |known| and `precision`, has one with a value of the wrong
/// kind, or lacks one that is required.
Status checkProperties(mlir::rt::TargetAttr attribute, llvm::ArrayRef<TargetProperty> known);

/// The property with the type of the elements of caches. A target of caches of f32 leaves it out.
inline constexpr TargetProperty kCachePrecision = {"cache_precision", PropertyKind::Text, false};
/// Returns the value of kCachePrecision, or an error if it is no type of elements.
Result<mlir::xfmr::Precision> readCachePrecision(mlir::rt::TargetAttr attribute);
/// Adds kCachePrecision to |properties| if |precision| is not f32.
void addCachePrecision(mlir::NamedAttrList &properties, mlir::xfmr::Precision precision, mlir::MLIRContext *context);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_TARGETPROPERTIES_H
