//===- XfmrContract.cpp - Verifier of the attributes between phases -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes `xfmr.NAME` of modules, functions, arguments, results and loops carry the contract between phases. Their kinds are checked
// here, so that passes need not.
//
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "dialect/Xfmr/IR/XfmrOps.h"

using namespace mlir;
using namespace mlir::xfmr;

/// Return true for a dictionary, and for an array, of elements of kind |isElement|.
static bool isDictionaryOf(Attribute attribute, llvm::function_ref<bool(Attribute)> isElement) {
  auto dictionary = dyn_cast<DictionaryAttr>(attribute);
  return dictionary && llvm::all_of(dictionary, [&](NamedAttribute entry) { return isElement(entry.getValue()); });
}
static bool isArrayOf(Attribute attribute, llvm::function_ref<bool(Attribute)> isElement) {
  auto array = dyn_cast<ArrayAttr>(attribute);
  return array && llvm::all_of(array, isElement);
}

static bool isString(Attribute attribute) { return isa<StringAttr>(attribute); }
/// An integer that fits 64 bits.
static bool isNumber(Attribute attribute) {
  auto number = dyn_cast<IntegerAttr>(attribute);
  return number && (number.getType().isIndex() || number.getType().getIntOrFloatBitWidth() <= 64);
}
static bool isCount(Attribute attribute) { return isNumber(attribute) && !cast<IntegerAttr>(attribute).getValue().isNegative(); }
static bool isStringsByName(Attribute attribute) { return isDictionaryOf(attribute, isString); }
static bool isStringListsByName(Attribute attribute) {
  return isDictionaryOf(attribute, [](Attribute list) { return isArrayOf(list, isString); });
}
/// The arithmetic of a call: of one kernel, or by entry.
static bool isFlops(Attribute attribute) { return isString(attribute) || isStringsByName(attribute); }

namespace {
/// The kind of an attribute.
struct Kind {
  llvm::StringLiteral name;
  bool (*holds)(Attribute);
  const char *description;
};
} // namespace

static constexpr Kind kKinds[] = {
    {kRoleAttr, isString, "a string"},
    {kCacheBytesAttr, isString, "a string"},
    {"xfmr.limit", isCount, "an integer that is not negative"},
    {kWorkspaceAttr, isStringsByName, "a dictionary of strings"},
    {kFlopsAttr, isFlops, "a string or a dictionary of strings"},
    {kEntryDimsAttr, isStringListsByName, "a dictionary of arrays of strings"},
};

/// Checks the kind of |attribute|, which is on |op|, its arguments or its results.
static LogicalResult verifyKind(Operation *op, NamedAttribute attribute) {
  const auto *kind = llvm::find_if(kKinds, [&](const Kind &kind) { return kind.name == attribute.getName(); });
  if (kind == std::end(kKinds) || kind->holds(attribute.getValue()))
    return success();
  return op->emitError("expects '") << attribute.getName().getValue() << "' to be " << kind->description << ", but got "
                                    << attribute.getValue();
}

LogicalResult XfmrDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return failed(detail::verifyEntryAttribute(op, attribute)) ? failure() : verifyKind(op, attribute);
}

LogicalResult XfmrDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index, NamedAttribute attribute) {
  return failed(detail::verifyEntryArgument(op, index, attribute)) ? failure() : verifyKind(op, attribute);
}

LogicalResult XfmrDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index, NamedAttribute attribute) {
  return detail::verifyEntryResult(op, index, attribute);
}
