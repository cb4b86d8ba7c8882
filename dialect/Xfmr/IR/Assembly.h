//===- Assembly.h - Custom parts of the assembly format ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Included once, where the generated parsers and printers are.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_XFMR_IR_ASSEMBLY_H
#define ATTUNE_DIALECT_XFMR_IR_ASSEMBLY_H

#include "mlir/IR/OpImplementation.h"

namespace mlir::xfmr {

/// Parses `, NAME` and |types|, unless the next keyword is another; sets |more| if a comma follows that has been read.
static ParseResult parseTypesOf(OpAsmParser &parser, StringRef name, ArrayRef<Type *> types, bool &more) {
  if (!more || failed(parser.parseOptionalKeyword(name)))
    return success();
  for (Type *type : types)
    if ((type != types.front() && parser.parseComma()) || parser.parseType(*type))
      return failure();
  more = succeeded(parser.parseOptionalComma());
  return success();
}

/// Parses `, bias` and the types of |biases|, then `, multiplier` and `, residual` with theirs; any may be missing.
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

/// Parses the symbols of a formula: names as keywords or strings, others as attributes.
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
