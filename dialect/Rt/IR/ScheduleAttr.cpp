//===- ScheduleAttr.cpp - The attribute rt.schedule -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Rt/IR/RtAttrs.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rt;

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

static ParseResult parseField(AsmParser &parser, int64_t &value) { return parser.parseInteger(value); }

/// Parses a keyword and sets |value| to the value that |symbolize| returns for it. Fails, with an error, if that is
/// nullopt.
template <typename T>
static ParseResult parseWord(AsmParser &parser, T &value, llvm::function_ref<std::optional<T>(StringRef)> symbolize) {
  SMLoc location = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  std::optional<T> known = symbolize(word);
  if (!known)
    return parser.emitError(location) << "unexpected value '" << word << "'";
  value = *known;
  return success();
}

static ParseResult parseField(AsmParser &parser, bool &value) {
  return parseWord<bool>(parser, value, [](StringRef word) -> std::optional<bool> {
    if (word != "true" && word != "false")
      return std::nullopt;
    return word == "true";
  });
}
static ParseResult parseField(AsmParser &parser, StorageType &value) { return parseWord<StorageType>(parser, value, symbolizeStorageType); }
static ParseResult parseField(AsmParser &parser, xfmr::Precision &value) {
  return parseWord<xfmr::Precision>(parser, value, [](StringRef word) { return xfmr::symbolizePrecision(word); });
}

static void printField(AsmPrinter &printer, int64_t value) { printer << value; }
static void printField(AsmPrinter &printer, bool value) { printer << (value ? "true" : "false"); }
static void printField(AsmPrinter &printer, StorageType value) { printer << stringifyStorageType(value); }
static void printField(AsmPrinter &printer, xfmr::Precision value) { printer << xfmr::stringifyPrecision(value); }

Attribute ScheduleAttr::parse(AsmParser &parser, Type) {
  Schedule schedule;
  auto parseOne = [&]() -> ParseResult {
    SMLoc location = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    ParseResult result = failure();
    bool known = false;
    visitFields(schedule, [&](StringRef field, auto &value, FieldRange) {
      if (field != name)
        return;
      known = true;
      result = parseField(parser, value);
    });
    return known ? result : parser.emitError(location) << "a schedule has no field '" << name << "'";
  };
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseOne))
    return {};
  return parser.getChecked<ScheduleAttr>(location, parser.getContext(), schedule);
}

void ScheduleAttr::print(AsmPrinter &printer) const {
  const Schedule schedule = getValue(), defaults;
  SmallVector<int64_t> usual;
  visitFields(defaults, [&](StringRef, auto value, FieldRange) { usual.push_back(static_cast<int64_t>(value)); });
  const int64_t *next = usual.begin();
  StringRef separator = "";
  printer << "<";
  visitFields(schedule, [&](StringRef name, auto value, FieldRange) {
    if (static_cast<int64_t>(value) == *next++)
      return;
    printer << separator << name << " = ";
    printField(printer, value);
    separator = ", ";
  });
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

/// Returns the text of |range|, such as "to be from 1 to 128", if |value| is outside of it, else "".
static StringRef findViolation(int64_t value, FieldRange range) {
  auto isWithin = [&](int64_t least, int64_t most) { return least <= value && value <= most; };
  switch (range) {
  case FieldRange::Any:
    return "";
  case FieldRange::Positive:
    return isWithin(1, INT32_MAX) ? "" : "to be from 1 to 2147483647";
  case FieldRange::NotNegative:
    return isWithin(0, INT32_MAX) ? "" : "to be from 0 to 2147483647";
  case FieldRange::AtLeast64:
    return isWithin(64, INT32_MAX) ? "" : "to be from 64 to 2147483647";
  case FieldRange::MultipleOf16:
    return isWithin(16, 1024) && value % 16 == 0 ? "" : "to be a multiple of 16, at most 1024";
  case FieldRange::TileRows:
    return isWithin(1, 128) ? "" : "to be from 1 to 128";
  case FieldRange::PowerOfTwo:
    return isWithin(1, 128) && llvm::isPowerOf2_64(value) ? "" : "to be a power of two, at most 128";
  }
  llvm_unreachable("all ranges are handled");
}

LogicalResult mlir::rt::verifyRanges(llvm::function_ref<InFlightDiagnostic()> emitError, ArrayRef<RangedValue> values) {
  for (const auto &[name, value, range] : values)
    if (StringRef expected = findViolation(value, range); !expected.empty())
      return emitError() << "expects '" << name << "' " << expected << ", but got " << value;
  return success();
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError, Schedule schedule) {
  SmallVector<RangedValue> fields;
  visitFields(schedule,
              [&](StringRef name, auto value, FieldRange range) { fields.push_back({name, static_cast<int64_t>(value), range}); });
  if (failed(verifyRanges(emitError, fields)))
    return failure();
  if (schedule.fewRows != 0 &&
      (schedule.fewColumns <= 0 || schedule.fewColumns % 16 != 0 || schedule.panelWidth % schedule.fewColumns != 0))
    return emitError() << "expects 'few_columns' to be a multiple of 16 that divides 'panel_width', but got " << schedule.fewColumns
                       << " and " << schedule.panelWidth;
  if (schedule.wideBlocks != 0 && (schedule.wideRows == 0 || schedule.wideColumns == 0 || schedule.wideColumns % schedule.panelWidth != 0))
    return emitError() << "expects 'wide_rows' to be positive and 'wide_columns' to be a positive multiple of 'panel_width', but got "
                       << schedule.wideRows << ", " << schedule.wideColumns << " and " << schedule.panelWidth;
  if (schedule.bf16.type != StorageType::F32 && schedule.bf16.type != StorageType::BF16)
    return emitError() << "expects 'bf16_type' to be f32 or bf16, but got " << stringifyStorageType(schedule.bf16.type);
  if (schedule.int8.type != StorageType::I16 && schedule.int8.type != StorageType::I8)
    return emitError() << "expects 'int8_type' to be i16 or i8, but got " << stringifyStorageType(schedule.int8.type);
  return success();
}
