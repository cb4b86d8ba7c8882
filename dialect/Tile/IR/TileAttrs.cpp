//===- TileAttrs.cpp - Attributes of the tile dialect and their verifiers -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tiles;

#define GET_ATTRDEF_CLASSES
#include "dialect/Tile/IR/TileAttrs.cpp.inc"

void TileDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/Tile/IR/TileAttrs.cpp.inc"
      >();
}

LogicalResult GroupAttr::verify(function_ref<InFlightDiagnostic()> emitError, std::optional<int64_t> number, StringRef) {
  if (number && *number < 0)
    return emitError() << "expects a group number of at least 0, but got " << *number;
  return success();
}

Attribute KernelAttr::parse(AsmParser &parser, Type) {
  std::string text, backend, note;
  bool rowWise = false;
  if (parser.parseLess() || parser.parseString(&text))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef keyword;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword))
      return {};
    if (keyword == "row_wise" && !rowWise) {
      rowWise = true;
      continue;
    }
    std::string *value = keyword == "backend" ? &backend : keyword == "note" ? &note : nullptr;
    if (!value || !value->empty()) {
      parser.emitError(loc, "expected 'row_wise', 'backend' or 'note', each at most once, but got '") << keyword << "'";
      return {};
    }
    if (parser.parseEqual() || parser.parseString(value))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), text, rowWise, backend, note);
}

void KernelAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printString(getText());
  if (getRowWise())
    printer << ", row_wise";
  for (auto [name, value] : {std::pair("backend", getBackend()), std::pair("note", getNote())})
    if (!value.empty()) {
      printer << ", " << name << " = ";
      printer.printString(value);
    }
  printer << '>';
}

/// Succeeds if the value of |attribute| is of the class Expected; else emits an error of |op| that calls this class
/// |what|.
template <typename Expected>
static LogicalResult verifyKind(Operation *op, NamedAttribute attribute, StringRef what) {
  if (isa<Expected>(attribute.getValue()))
    return success();
  return op->emitError("expects '") << attribute.getName().getValue() << "' to be " << what << ", but got " << attribute.getValue();
}

LogicalResult TileDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName().getValue();
  auto isShaped = [](Type type) { return isa<ShapedType>(type); };
  if (name == kGroupAttr) {
    if (failed(verifyKind<GroupAttr>(op, attribute, "a #tile.group")))
      return failure();
    if (llvm::none_of(op->getOperandTypes(), isShaped))
      return op->emitError("expects '") << name << "' on an operation on tensors or buffers";
    return success();
  }
  if (name == kKernelAttr) {
    if (failed(verifyKind<KernelAttr>(op, attribute, "a #tile.kernel")))
      return failure();
    if (!isa<FunctionOpInterface>(op) && op->getName().getStringRef() != "scf.forall")
      return op->emitError("expects '") << name << "' on a function or an scf.forall";
    return success();
  }
  if (name == kWorkAttr) {
    if (failed(verifyKind<WorkAttr>(op, attribute, "a #tile.work")))
      return failure();
    if (!llvm::is_contained({"scf.forall", "func.call"}, op->getName().getStringRef()))
      return op->emitError("expects '") << name << "' on an scf.forall or a func.call";
    return success();
  }
  if (name == kWholePanelsAttr) {
    if (failed(verifyKind<UnitAttr>(op, attribute, "a unit attribute")))
      return failure();
    if (llvm::count_if(op->getOperandTypes(), isShaped) < 3)
      return op->emitError("expects '") << name << "' on a contraction of two tensors or buffers into a third";
    return success();
  }
  return op->emitError("expects an attribute of the tile dialect on operations, but got '") << name << "'";
}

LogicalResult TileDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned number, NamedAttribute attribute) {
  StringRef name = attribute.getName().getValue();
  if (name != kRowsAttr)
    return op->emitError("expects an attribute of the tile dialect on arguments, but got '") << name << "'";
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (failed(verifyKind<UnitAttr>(op, attribute, "a unit attribute")))
    return failure();
  auto type = function && number < function.getNumArguments() ? dyn_cast<ShapedType>(function.getArgumentTypes()[number]) : ShapedType();
  if (!type || !type.hasRank() || type.getRank() == 0)
    return op->emitError("expects '") << name << "' on tensors or buffers of rank 1 or more";
  return success();
}
