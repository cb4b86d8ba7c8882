//===- RtDialect.cpp - The rt dialect and its attributes -------------------===//
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
  bool known = name == TargetAttr::kName || name == ScheduleAttr::kName || name == DeviceScheduleAttr::kName;
  if (!known)
    return op->emitError("expects 'rt.target', 'rt.schedule' or 'rt.device_schedule', but got '") << name << "'";
  if (!isa<ModuleOp>(op))
    return op->emitError("expects '") << name << "' on a module";
  bool matches = name == TargetAttr::kName     ? isa<TargetAttr>(attribute.getValue())
                 : name == ScheduleAttr::kName ? isa<ScheduleAttr>(attribute.getValue())
                                               : isa<DeviceScheduleAttr>(attribute.getValue());
  if (!matches)
    return op->emitError("expects '") << name << "' to be #" << name << "<...>, but got " << attribute.getValue();
  if (name != TargetAttr::kName && !op->hasAttr(TargetAttr::kName))
    return op->emitError("expects 'rt.target' beside '") << name << "'";
  if (name == DeviceScheduleAttr::kName)
    if (auto target = op->getAttrOfType<TargetAttr>(TargetAttr::kName); target && !target.isGpu())
      return op->emitError("expects no 'rt.device_schedule' for target ") << target.getKind();
  return success();
}

//===----------------------------------------------------------------------===//
// Target
//===----------------------------------------------------------------------===//

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

namespace {
enum class PropertyKind { Text, Number, List };

/// A property of a target.
struct Property {
  StringLiteral name;
  PropertyKind kind;
  bool isRequired;
  ArrayRef<StringLiteral> values = {}; // all that a text may be, none for any
};
} // namespace

static constexpr StringLiteral kPrecisions[] = {"f32", "bf16", "f16", "int8"};
static constexpr StringLiteral kKernelMakers[] = {"mlir", "halide"};
static const Property kCpuProperties[] = {{"cpu", PropertyKind::Text, false},
                                          {"features", PropertyKind::List, true},
                                          {"kernels", PropertyKind::Text, true, kKernelMakers},
                                          {"precision", PropertyKind::Text, true, kPrecisions},
                                          {"triple", PropertyKind::Text, false},
                                          {"vector_bits", PropertyKind::Number, true},
                                          {"vector_registers", PropertyKind::Number, true}};
static const Property kCudaProperties[] = {{"archs", PropertyKind::List, true}, {"precision", PropertyKind::Text, true, kPrecisions}};

/// Checks the value of |property|.
static LogicalResult verifyProperty(function_ref<InFlightDiagnostic()> emitError, const Property &property, Attribute value) {
  auto expect = [&](const Twine &expected) -> LogicalResult {
    return emitError() << "expects '" << property.name << "' to be " << expected << ", but got " << value;
  };
  switch (property.kind) {
  case PropertyKind::Text: {
    auto text = dyn_cast<StringAttr>(value);
    if (!text)
      return expect("a string");
    if (!property.values.empty() && !llvm::is_contained(property.values, text.getValue()))
      return expect("one of " + llvm::join(property.values, ", "));
    return success();
  }
  case PropertyKind::Number: {
    auto number = dyn_cast<IntegerAttr>(value);
    return number && number.getType().isSignlessInteger(64) && number.getInt() > 0 ? success() : expect("a positive i64");
  }
  case PropertyKind::List: {
    auto array = dyn_cast<ArrayAttr>(value);
    return array && llvm::all_of(array, llvm::IsaPred<StringAttr>) ? success() : expect("a list of strings");
  }
  }
  llvm_unreachable("all kinds are handled");
}

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr kind, DictionaryAttr properties) {
  if (kind != "cpu" && kind != "cuda")
    return emitError() << "expects target \"cpu\" or \"cuda\", but got " << kind;
  ArrayRef<Property> known = kind == "cpu" ? ArrayRef<Property>(kCpuProperties) : ArrayRef<Property>(kCudaProperties);
  for (NamedAttribute entry : properties) {
    const auto *property = llvm::find_if(known, [&](const Property &p) { return p.name == entry.getName(); });
    if (property == known.end())
      return emitError() << "target " << kind << " has no property " << entry.getName();
    if (failed(verifyProperty(emitError, *property, entry.getValue())))
      return failure();
  }
  for (const Property &property : known)
    if (property.isRequired && !properties.contains(property.name))
      return emitError() << "expects property '" << property.name << "' of target " << kind;
  if (kind == "cuda" && properties.getAs<ArrayAttr>("archs").empty())
    return emitError() << "expects 'archs' to name a GPU";
  return success();
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t registerRows, int64_t queryRows,
                                   int64_t panelWidth, int64_t keyPanelWidth, int64_t valueVectors, int64_t weightRows,
                                   int64_t attentionRows, int64_t blockBytes, int64_t maxBlockRows, int64_t rowBlock, StringRef dotUnit,
                                   StringRef bf16Type, int64_t bf16Multiple, int64_t bf16Group, StringRef int8Type, int64_t int8Multiple,
                                   int64_t int8Group, int64_t codeRows, int64_t codeGroup, int64_t streamPanels, int64_t prefetchStreams,
                                   int64_t prefetchAhead, int64_t fewRows, int64_t fewColumns, int64_t wideRows, int64_t wideColumns,
                                   int64_t wideBlocks, bool roundsBf16, int64_t maxFeatures) {
  using Field = std::pair<StringRef, int64_t>;
  for (auto [name, value] :
       {Field("register_rows", registerRows), Field("query_rows", queryRows), Field("value_vectors", valueVectors),
        Field("weight_rows", weightRows), Field("attention_rows", attentionRows), Field("block_bytes", blockBytes),
        Field("max_block_rows", maxBlockRows), Field("row_block", rowBlock), Field("bf16_multiple", bf16Multiple),
        Field("bf16_group", bf16Group), Field("int8_multiple", int8Multiple), Field("int8_group", int8Group), Field("code_rows", codeRows),
        Field("code_group", codeGroup), Field("stream_panels", streamPanels), Field("prefetch_streams", prefetchStreams)})
    if (value < 1)
      return emitError() << "expects '" << name << "' to be at least 1, but got " << value;
  for (auto [name, value] :
       {Field("prefetch_ahead", prefetchAhead), Field("few_rows", fewRows), Field("few_columns", fewColumns), Field("wide_rows", wideRows),
        Field("wide_columns", wideColumns), Field("wide_blocks", wideBlocks), Field("max_features", maxFeatures)})
    if (value < 0)
      return emitError() << "expects '" << name << "' not to be negative, but got " << value;
  for (auto [name, value] : {Field("panel_width", panelWidth), Field("key_panel_width", keyPanelWidth)})
    if (value < 16 || value % 16 != 0)
      return emitError() << "expects '" << name << "' to be a multiple of 16, but got " << value;
  for (auto [name, value] : {Field("query_rows", queryRows), Field("code_rows", codeRows)})
    if (!llvm::isPowerOf2_64(value))
      return emitError() << "expects '" << name << "' to be a power of two, but got " << value;
  if (!llvm::is_contained({"portable", "avx2", "avx512", "amx"}, dotUnit))
    return emitError() << "expects 'dot_unit' to be portable, avx2, avx512 or amx, but got \"" << dotUnit << "\"";
  if (!llvm::is_contained({"f32", "bf16"}, bf16Type))
    return emitError() << "expects 'bf16_type' to be f32 or bf16, but got \"" << bf16Type << "\"";
  if (!llvm::is_contained({"i16", "i8"}, int8Type))
    return emitError() << "expects 'int8_type' to be i16 or i8, but got \"" << int8Type << "\"";
  return success();
}

LogicalResult DeviceScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t codeQueryRows, int64_t largestCodeHead,
                                         int64_t threads, int64_t sharedBytes, int64_t specificArch, int64_t specificColumns,
                                         int64_t specificStages, int64_t specificBytes, int64_t specificCacheBytes) {
  using Field = std::pair<StringRef, int64_t>;
  for (auto [name, value] : {Field("code_query_rows", codeQueryRows), Field("largest_code_head", largestCodeHead),
                             Field("threads", threads), Field("shared_bytes", sharedBytes)})
    if (value < 1)
      return emitError() << "expects '" << name << "' to be at least 1, but got " << value;
  if (threads % 32 != 0)
    return emitError() << "expects 'threads' to be a multiple of 32, but got " << threads;
  for (auto [name, value] :
       {Field("specific_arch", specificArch), Field("specific_columns", specificColumns), Field("specific_stages", specificStages),
        Field("specific_bytes", specificBytes), Field("specific_cache_bytes", specificCacheBytes)})
    if (value < 0 || (value == 0) != (specificArch == 0))
      return emitError() << "expects '" << name << "' to be positive with 'specific_arch' and 0 without, but got " << value;
  return success();
}
