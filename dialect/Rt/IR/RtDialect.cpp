//===- RtDialect.cpp - The rt dialect and its attributes ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Rt/IR/RtOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rt;

#include "dialect/Rt/IR/RtDialect.cpp.inc"
#include "dialect/Rt/IR/RtEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/Rt/IR/RtAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "dialect/Rt/IR/RtOps.cpp.inc"

void RtDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/Rt/IR/RtAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/Rt/IR/RtOps.cpp.inc"
      >();
}

LogicalResult rt::detail::verifyModuleAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name != TargetAttr::kName && name != ScheduleAttr::kName)
    return op->emitError("expects 'rt.target' or 'rt.schedule', but got '") << name << "'";
  if (!isa<ModuleOp>(op))
    return op->emitError("expects '") << name << "' on a module";
  if (name == TargetAttr::kName ? !isa<TargetAttr>(attribute.getValue()) : !isa<ScheduleAttr>(attribute.getValue()))
    return op->emitError("expects '") << name << "' to be #" << name << "<...>, but got " << attribute.getValue();
  return success();
}

//===----------------------------------------------------------------------===//
// Target
//===----------------------------------------------------------------------===//

xfmr::Precision TargetAttr::getPrecision() const { return xfmr::symbolizePrecision(getText("precision")).value(); }

StringRef TargetAttr::getText(StringRef name) const {
  auto text = getProperties().getAs<StringAttr>(name);
  return text ? text.getValue() : StringRef();
}

int64_t TargetAttr::getNumber(StringRef name) const {
  auto number = getProperties().getAs<IntegerAttr>(name);
  return number ? number.getInt() : 0;
}

SmallVector<StringRef> TargetAttr::getList(StringRef name) const {
  SmallVector<StringRef> list;
  if (auto array = getProperties().getAs<ArrayAttr>(name))
    for (StringAttr text : array.getAsRange<StringAttr>())
      list.push_back(text.getValue());
  return list;
}

/// Returns true if |value| may be a property of a target: a string, a positive i64 or a list of strings.
static bool isProperty(Attribute value) {
  if (auto number = dyn_cast<IntegerAttr>(value))
    return number.getType().isSignlessInteger(64) && number.getInt() > 0;
  auto list = dyn_cast<ArrayAttr>(value);
  return isa<StringAttr>(value) || (list && llvm::all_of(list, llvm::IsaPred<StringAttr>));
}

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr name, DictionaryAttr properties) {
  for (NamedAttribute property : properties)
    if (!isProperty(property.getValue()))
      return emitError() << "expects '" << property.getName().getValue()
                         << "' to be a string, a positive i64 or a list of strings, but got " << property.getValue();
  auto precision = properties.getAs<StringAttr>("precision");
  if (!precision || !xfmr::symbolizePrecision(precision.getValue()))
    return emitError() << "expects 'precision' of target " << name << " to be f32, bf16, f16 or int8";
  return success();
}
