//===- Assembly.h - Custom parts of the assembly format ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The functions that the generated parsers and printers of the dialect call. Only XfmrDialect.cpp, which has the
// generated code, includes this file.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_XFMR_IR_ASSEMBLY_H
#define ATTUNE_DIALECT_XFMR_IR_ASSEMBLY_H

#include "dialect/Xfmr/IR/XfmrAttrs.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

namespace mlir::xfmr {

/// Parses the keyword |name| and then |types|, separated by commas, if a comma has been read (|more| is true) and the
/// next token is |name|. Then reads a comma, if there is one, and sets |more| to true if there is, else to false. Reads
/// and changes nothing if |more| is false or another token is next.
static ParseResult parseTypesOf(OpAsmParser &parser, StringRef name, ArrayRef<Type *> types, bool &more) {
  if (!more || failed(parser.parseOptionalKeyword(name)))
    return success();
  for (Type *type : types)
    if ((type != types.front() && parser.parseComma()) || parser.parseType(*type))
      return failure();
  more = succeeded(parser.parseOptionalComma());
  return success();
}

/// Parses `, bias` and the types |biases|, separated by commas, then `, multiplier` and `, residual`, each with its
/// type. Any of the three parts may be missing; its types are not changed then. If |multiplier| is null, `, multiplier`
/// is an error.
static ParseResult parseEpilogueTypes(OpAsmParser &parser, ArrayRef<Type *> biases, Type *multiplier, Type &residual) {
  bool more = succeeded(parser.parseOptionalComma());
  if (parseTypesOf(parser, "bias", biases, more) || (multiplier && parseTypesOf(parser, "multiplier", multiplier, more)) ||
      parseTypesOf(parser, "residual", &residual, more))
    return failure();
  return more ? parser.emitError(parser.getCurrentLocation(), "expected the types of the optional operands, in their order")
              : ParseResult::success();
}

static void printEpilogueTypes(OpAsmPrinter &printer, ArrayRef<Type> biases, Type multiplier, Type residual) {
  if (biases.front())
    llvm::interleaveComma(biases, printer << ", bias ");
  if (multiplier)
    printer << ", multiplier " << multiplier;
  if (residual)
    printer << ", residual " << residual;
}

static ParseResult parseEpilogueTypes(OpAsmParser &parser, Type &bias, Type &multiplier, Type &residual) {
  return parseEpilogueTypes(parser, {&bias}, &multiplier, residual);
}

static void printEpilogueTypes(OpAsmPrinter &printer, Operation *, Type bias, Type multiplier, Type residual) {
  printEpilogueTypes(printer, ArrayRef<Type>{bias}, multiplier, residual);
}

static ParseResult parseFfnEpilogueTypes(OpAsmParser &parser, Type &upBias, Type &downBias, Type &residual) {
  return parseEpilogueTypes(parser, {&upBias, &downBias}, nullptr, residual);
}

static void printFfnEpilogueTypes(OpAsmPrinter &printer, Operation *, Type upBias, Type downBias, Type residual) {
  printEpilogueTypes(printer, {upBias, downBias}, Type(), residual);
}

/// Parses the dims of a tensor, such as `[batch, 48]`. In |dims|, a name is a string attribute and a size an i64 one.
static ParseResult parseDims(AsmParser &parser, ArrayAttr &dims) {
  Builder &builder = parser.getBuilder();
  SmallVector<Attribute> elements;
  auto parseDim = [&]() -> ParseResult {
    int64_t size;
    OptionalParseResult isSize = parser.parseOptionalInteger(size);
    std::string name;
    if (isSize.has_value() ? failed(*isSize) : failed(parser.parseKeywordOrString(&name)))
      return failure();
    elements.push_back(isSize.has_value() ? Attribute(builder.getI64IntegerAttr(size)) : builder.getStringAttr(name));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim))
    return failure();
  dims = builder.getArrayAttr(elements);
  return success();
}

static void printDims(AsmPrinter &printer, ArrayAttr dims) {
  auto print = [&](Attribute dim) {
    if (auto name = dyn_cast<StringAttr>(dim))
      printer.printKeywordOrString(name);
    else
      printer << cast<IntegerAttr>(dim).getInt();
  };
  printer << '[';
  llvm::interleaveComma(dims, printer, print);
  printer << ']';
}

/// Parses the dims of an input, then `, default = WORD` and `, max_value = NUMBER`. Either of these two may be missing;
/// |defaultValue| or |maxValue| is not changed then.
static ParseResult parseInput(AsmParser &parser, ArrayAttr &dims, InputDefault &defaultValue, int64_t &maxValue) {
  if (parseDims(parser, dims))
    return failure();
  bool more = succeeded(parser.parseOptionalComma());
  if (more && succeeded(parser.parseOptionalKeyword("default"))) {
    FailureOr<InputDefault> value = failure();
    if (parser.parseEqual() || failed(value = FieldParser<InputDefault>::parse(parser)))
      return failure();
    defaultValue = *value;
    more = succeeded(parser.parseOptionalComma());
  }
  return more ? ParseResult(failure(parser.parseKeyword("max_value") || parser.parseEqual() || parser.parseInteger(maxValue)))
              : ParseResult::success();
}

static void printInput(AsmPrinter &printer, ArrayAttr dims, InputDefault defaultValue, int64_t maxValue) {
  printDims(printer, dims);
  if (defaultValue != InputDefault::Required)
    printer << ", default = " << stringifyInputDefault(defaultValue);
  if (maxValue != 0)
    printer << ", max_value = " << maxValue;
}

/// Parses the dims of an output, then `, group`, which may be missing. Sets |isGroup| to true if it is not missing.
static ParseResult parseOutput(AsmParser &parser, ArrayAttr &dims, bool &isGroup) {
  if (parseDims(parser, dims))
    return failure();
  isGroup = succeeded(parser.parseOptionalComma());
  return isGroup ? parser.parseKeyword("group") : ParseResult::success();
}

static void printOutput(AsmPrinter &printer, ArrayAttr dims, bool isGroup) {
  printDims(printer, dims);
  if (isGroup)
    printer << ", group";
}

/// Parses the symbols of a formula, in brackets: a name is a keyword or a string, an `#xfmr.argument` is an attribute.
static ParseResult parseFormulaSymbols(AsmParser &parser, SmallVectorImpl<Attribute> &symbols) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    std::string name;
    if (failed(parser.parseOptionalKeywordOrString(&name)))
      return parser.parseAttribute(symbols.emplace_back());
    symbols.push_back(StringAttr::get(parser.getContext(), name));
    return success();
  });
}

static void printFormulaSymbols(AsmPrinter &printer, ArrayRef<Attribute> symbols) {
  printer << '[';
  llvm::interleaveComma(symbols, printer, [&](Attribute symbol) {
    if (auto name = dyn_cast<StringAttr>(symbol))
      printer.printKeywordOrString(name);
    else
      printer << symbol;
  });
  printer << ']';
}

} // namespace mlir::xfmr

#endif // ATTUNE_DIALECT_XFMR_IR_ASSEMBLY_H
