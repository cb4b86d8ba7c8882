//===- XfmrContract.cpp - Verifier of the attributes between phases -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes `xfmr.NAME` of modules, functions, arguments, results and loops carry the contract between phases. Their kinds are checked
// here, so that passes need not.
//
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/IR/BuiltinOps.h"

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
static bool isUnit(Attribute attribute) { return isa<UnitAttr>(attribute); }
/// An integer that fits 64 bits.
static bool isNumber(Attribute attribute) {
  auto number = dyn_cast<IntegerAttr>(attribute);
  return number && (number.getType().isIndex() || number.getType().getIntOrFloatBitWidth() <= 64);
}
static bool isCount(Attribute attribute) { return isNumber(attribute) && !cast<IntegerAttr>(attribute).getValue().isNegative(); }
static bool isDims(Attribute attribute) {
  return isArrayOf(attribute, [](Attribute dim) { return isString(dim) || isNumber(dim); });
}
static bool isStringsByName(Attribute attribute) { return isDictionaryOf(attribute, isString); }
static bool isNumbersByName(Attribute attribute) { return isDictionaryOf(attribute, isNumber); }

namespace {
/// The kind of an attribute.
struct Kind {
  llvm::StringLiteral name;
  bool (*holds)(Attribute);
  const char *description;
};
} // namespace

static constexpr Kind kKinds[] = {
    {kEntryAttr, isString, "a string"},
    {kNameAttr, isString, "a string"},
    {kFillAttr, isString, "a string"},
    {kDimAttr, isString, "a string"},
    {kCacheAttr, isString, "a string"},
    {kCacheUseAttr, isString, "a string"},
    {"xfmr.offset", isCount, "an integer that is not negative"},
    {"xfmr.bytes", isCount, "an integer that is not negative"},
    {"xfmr.weights_bytes", isCount, "an integer that is not negative"},
    {kMaxValueAttr, isNumber, "an integer"},
    {kDimsAttr, isDims, "an array of names and sizes"},
    {kLimitsAttr, isNumbersByName, "a dictionary of integers"},
    {kModelAttr, isStringsByName, "a dictionary of strings"},
    {kGroupAttr, isUnit, "a unit attribute"},
    {kWeightArgAttr, isUnit, "a unit attribute"},
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
  if (attribute.getName() == kLabelsAttr) {
    if (!isa<ModuleOp>(op))
      return op->emitOpError() << "expected '" << kLabelsAttr << "' on a module only";
    if (!isa<LabelsAttr>(attribute.getValue()))
      return op->emitOpError() << "expected '" << kLabelsAttr << "' to be #xfmr.labels<[...]>, got " << attribute.getValue();
  }
  if (attribute.getName() == kFlopsAttr)
    return verifyEntryFormula(op, attribute);
  return verifyKind(op, attribute);
}

LogicalResult xfmr::verifyEntryFormula(Operation *op, NamedAttribute attribute) {
  if (!isa<FunctionOpInterface>(op) || !op->hasAttr(kEntryAttr))
    return op->emitError("expects '") << attribute.getName().getValue() << "' on an entry";
  auto formula = dyn_cast<FormulaAttr>(attribute.getValue());
  if (!formula)
    return op->emitError("expects '") << attribute.getName().getValue() << "' to be a #xfmr.formula, but got " << attribute.getValue();
  if (!llvm::all_of(formula.getSymbols(), llvm::IsaPred<StringAttr>))
    return op->emitError("expects '") << attribute.getName().getValue() << "' to be in terms of dims, but got " << formula;
  return success();
}

/// Checks that `xfmr.dims`, on |what| of |op|, names all dimensions of |type|, if |type| has them.
static LogicalResult verifyDims(Operation *op, const Twine &what, Type type, NamedAttribute attribute) {
  auto shaped = dyn_cast<ShapedType>(type);
  int64_t count = attribute.getName() == kDimsAttr ? cast<ArrayAttr>(attribute.getValue()).size() : 0;
  if (attribute.getName() != kDimsAttr || !shaped || !shaped.hasRank() || shaped.getRank() == count)
    return success();
  return op->emitError("expects '") << kDimsAttr << "' of " << what << " to have " << shaped.getRank()
                                    << " elements, the rank of its type, but got " << count;
}

LogicalResult XfmrDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index, NamedAttribute attribute) {
  if (failed(verifyKind(op, attribute)))
    return failure();
  auto function = dyn_cast<FunctionOpInterface>(op);
  return function ? verifyDims(op, "argument " + Twine(index), function.getArgumentTypes()[index], attribute) : success();
}

LogicalResult XfmrDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index, NamedAttribute attribute) {
  if (failed(verifyKind(op, attribute)))
    return failure();
  auto function = dyn_cast<FunctionOpInterface>(op);
  return function ? verifyDims(op, "result " + Twine(index), function.getResultTypes()[index], attribute) : success();
}
