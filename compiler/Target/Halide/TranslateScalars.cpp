//===- TranslateScalars.cpp - Bodies of linalg operations as text ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/Halide/TranslateKernel.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace attune;

std::string ScalarTranslator::fail(const Twine &reason) {
  if (why.empty())
    why = reason.str();
  return "";
}

/// Returns the word of the description language with the meaning and the operands of |op|; "" if there is none.
static StringRef wordFor(Operation *op) {
  return llvm::StringSwitch<StringRef>(op->getName().getStringRef())
      .Cases({"arith.addf", "arith.addi"}, "add")
      .Cases({"arith.subf", "arith.subi"}, "sub")
      .Cases({"arith.mulf", "arith.muli"}, "mul")
      .Case("arith.divf", "div")
      .Cases({"arith.maximumf", "arith.maxnumf", "arith.maxsi"}, "max")
      .Cases({"arith.minimumf", "arith.minnumf", "arith.minsi"}, "min")
      .Case("arith.negf", "neg")
      .Case("arith.select", "select")
      .Case("math.fma", "fma")
      .Case("math.sqrt", "sqrt")
      .Case("math.absf", "abs")
      .Case("math.exp", "exp")
      .Case("math.exp2", "exp2")
      .Case("math.log", "log")
      .Case("math.erf", "erf")
      .Case("math.tanh", "tanh")
      .Default("");
}

/// Returns the word for |predicate|, the name of a predicate of a comparison of signed integers or floats; "" if there
/// is none.
static StringRef wordForPredicate(StringRef predicate) {
  return llvm::StringSwitch<StringRef>(predicate)
      .Cases({"eq", "oeq"}, "eq")
      .Cases({"ne", "one", "une"}, "ne")
      .Cases({"slt", "olt"}, "lt")
      .Cases({"sle", "ole"}, "le")
      .Cases({"sgt", "ogt"}, "gt")
      .Cases({"sge", "oge"}, "ge")
      .Default("");
}

/// Returns the text of |op| if it is a constant of f32 or i1, or an integer or index that fits in 32 bits; else "".
static std::string constantText(Operation *op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  if (!constant)
    return "";
  if (auto value = dyn_cast<FloatAttr>(constant.getValue()); value && value.getType().isF32())
    return floatTerm(value.getValueAsDouble());
  auto value = dyn_cast<IntegerAttr>(constant.getValue());
  if (!value)
    return "";
  if (value.getType().isInteger(1))
    return value.getValue().isZero() ? "false" : "true";
  int64_t number = value.getInt();
  return number == static_cast<int32_t>(number) ? std::to_string(number) : "";
}

std::string ScalarTranslator::translate(Value value) {
  if (std::string known = lookup(value); !known.empty())
    return known;
  Operation *op = value.getDefiningOp();
  if (!op)
    return fail("it uses a value of type " + llvm::to_string(value.getType()) + " from outside");
  return translateOp(op);
}

/// Translates a conversion between integers, indices, booleans (i1) and f32. Fails for
///
///   - conversions to booleans;
///   - conversions of booleans other than arith.extui and arith.uitofp;
///   - arith.extui and arith.uitofp of other integers, and arith.index_castui of i32, since a negative integer would
///     become another number;
///   - arith.trunci to another type than i32.
std::string ScalarTranslator::translateCast(Operation *op) {
  Value from = op->getOperand(0);
  std::string operand = translate(from);
  if (operand.empty())
    return "";
  bool isFloat = op->getResult(0).getType().isF32(), isBool = from.getType().isInteger(1);
  if (op->getResult(0).getType().isInteger(1))
    return fail("operation '" + op->getName().getStringRef() + "' to i1");
  if (isBool && !isa<arith::ExtUIOp, arith::UIToFPOp>(op))
    return fail("operation '" + op->getName().getStringRef() + "' of i1");
  bool isUnsigned = isa<arith::ExtUIOp, arith::UIToFPOp>(op) || (isa<arith::IndexCastUIOp>(op) && from.getType().isInteger(32));
  bool dropsBits = isa<arith::TruncIOp>(op) && !op->getResult(0).getType().isInteger(32);
  if (!isBool && (isUnsigned || dropsBits))
    return fail("operation '" + op->getName().getStringRef() + "' of " + llvm::to_string(from.getType()));
  if (isBool)
    return term("select", {operand, isFloat ? "1.0" : "1", isFloat ? "0.0" : "0"});
  return term(isFloat ? "float" : "int", {operand});
}

/// Translates an affine.apply, affine.min or affine.max.
std::string ScalarTranslator::translateAffine(Operation *op) {
  auto apply = dyn_cast<affine::AffineApplyOp>(op);
  auto smallest = dyn_cast<affine::AffineMinOp>(op);
  AffineMap map = apply ? apply.getAffineMap() : smallest ? smallest.getAffineMap() : cast<affine::AffineMaxOp>(op).getAffineMap();
  auto leaf = [&](AffineExpr expr) -> std::string {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return translate(op->getOperand(dim.getPosition()));
    auto symbol = dyn_cast<AffineSymbolExpr>(expr);
    return symbol ? translate(op->getOperand(map.getNumDims() + symbol.getPosition())) : "";
  };
  std::string result;
  for (AffineExpr expr : map.getResults()) {
    std::string text = affineTerm(expr, leaf);
    if (text.empty())
      return fail("operation '" + op->getName().getStringRef() + "' has no equivalent");
    result = result.empty() ? text : term(smallest ? "min" : "max", {result, text});
  }
  return result;
}

/// Translates a tensor.extract to a load. Its tensor becomes an input of the kernel.
std::string ScalarTranslator::translateExtract(Operation *op) {
  auto extract = cast<tensor::ExtractOp>(op);
  SmallVector<std::string> operands{text.addInput(extract.getTensor())};
  if (operands[0].empty())
    return fail("it reads a tensor of type " + llvm::to_string(extract.getTensor().getType()));
  for (Value index : extract.getIndices()) {
    operands.push_back(translate(index));
    if (operands.back().empty())
      return "";
  }
  return term("load", operands);
}

std::string ScalarTranslator::translateOp(Operation *op) {
  if (isa<tensor::ExtractOp>(op))
    return translateExtract(op);
  if (isa<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp>(op))
    return translateAffine(op);
  if (isa<linalg::IndexOp>(op))
    return "d" + std::to_string(cast<linalg::IndexOp>(op).getDim());
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtUIOp, arith::ExtSIOp, arith::TruncIOp, arith::SIToFPOp, arith::UIToFPOp>(op))
    return translateCast(op);
  if (std::string constant = constantText(op); !constant.empty())
    return constant;
  StringRef word = llvm::TypeSwitch<Operation *, StringRef>(op)
                       .Case([](arith::CmpIOp compare) { return wordForPredicate(arith::stringifyCmpIPredicate(compare.getPredicate())); })
                       .Case([](arith::CmpFOp compare) { return wordForPredicate(arith::stringifyCmpFPredicate(compare.getPredicate())); })
                       .Default([](Operation *other) { return wordFor(other); });
  if (op->getNumResults() == 1 && op->getResult(0).getType().isInteger(1) && isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
    word = isa<arith::AndIOp>(op) ? "and" : isa<arith::OrIOp>(op) ? "or" : "xor";
  if (word.empty())
    return fail("operation '" + op->getName().getStringRef() + "' has no equivalent");
  SmallVector<std::string> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(translate(operand));
    if (operands.back().empty())
      return "";
  }
  return term(word, operands);
}
