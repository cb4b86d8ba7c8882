//===- Assembly.h - Custom parts of the assembly format ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Included once, where the generated parsers and printers are.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_IR_ASSEMBLY_H
#define ATTUNE_DIALECT_IR_ASSEMBLY_H

#include "mlir/IR/OpImplementation.h"

namespace mlir::xfmr {

/// Parses `, bias` and the types of |biases|, then `, residual` and |residual|; either may be missing.
static ParseResult parseEpilogueTypes(OpAsmParser &parser, ArrayRef<Type *> biases, Type &residual) {
  if (failed(parser.parseOptionalComma()))
    return success();
  if (succeeded(parser.parseOptionalKeyword("bias"))) {
    for (Type *bias : biases)
      if ((bias != biases.front() && parser.parseComma()) || parser.parseType(*bias))
        return failure();
    if (failed(parser.parseOptionalComma()))
      return success();
  }
  return failure(parser.parseKeyword("residual") || parser.parseType(residual));
}

static void printEpilogueTypes(OpAsmPrinter &printer, ArrayRef<Type> biases, Type residual) {
  if (biases.front())
    llvm::interleaveComma(biases, printer << ", bias ");
  if (residual)
    printer << ", residual " << residual;
}

static ParseResult parseEpilogueTypes(OpAsmParser &parser, Type &bias, Type &residual) {
  return parseEpilogueTypes(parser, {&bias}, residual);
}

static void printEpilogueTypes(OpAsmPrinter &printer, Operation *, Type bias, Type residual) {
  printEpilogueTypes(printer, ArrayRef<Type>{bias}, residual);
}

static ParseResult parseFfnEpilogueTypes(OpAsmParser &parser, Type &upBias, Type &downBias, Type &residual) {
  return parseEpilogueTypes(parser, {&upBias, &downBias}, residual);
}

static void printFfnEpilogueTypes(OpAsmPrinter &printer, Operation *, Type upBias, Type downBias, Type residual) {
  printEpilogueTypes(printer, {upBias, downBias}, residual);
}

} // namespace mlir::xfmr

#endif // ATTUNE_DIALECT_IR_ASSEMBLY_H
