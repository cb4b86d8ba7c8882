//===- SizeExprTest.cpp - Sizes as formulas and back ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/SizeExpr.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/MLIRContext.h"

#include <cstdio>
#include <random>

using namespace attune;
using namespace mlir;

namespace {

int failures = 0;

void expect(bool condition, const std::string &what) {
  if (!condition && ++failures <= 10)
    std::printf("FAIL: %s\n", what.c_str());
}

/// Checks that |size| is unchanged after a conversion to a formula and back, and that the formula's map has |results|
/// results.
void testFormula(MLIRContext &context, const SizeExpr &size, unsigned results) {
  xfmr::FormulaAttr formula = size.toFormula(&context);
  SizeExpr back = SizeExpr::fromFormula(formula);
  expect(back.str() == size.str(), size.str() + " became " + back.str());
  expect(back.toFormula(&context) == formula, size.str() + ": another formula for the same size");
  expect(formula.getMap().getNumResults() == results, size.str() + ": " + std::to_string(formula.getMap().getNumResults()) + " results");
}

/// Returns a random tree of |depth| levels of sums, products, quotients and maxima over |leaves|.
SizeExpr randomSize(std::mt19937 &random, ArrayRef<SizeExpr> leaves, int depth) {
  if (depth == 0)
    return leaves[random() % leaves.size()];
  SizeExpr left = randomSize(random, leaves, depth - 1);
  switch (random() % 4) {
  case 0:
    return left + randomSize(random, leaves, depth - 1);
  case 1:
    return left * randomSize(random, leaves, 0);
  case 2:
    return left.ceilDiv(1 + random() % 64);
  default:
    return SizeExpr::max(left, randomSize(random, leaves, depth - 1));
  }
}

} // namespace

int main() {
  MLIRContext context;
  context.loadDialect<xfmr::XfmrDialect>();
  auto name = [&](StringRef text) { return SizeExpr::symbol(StringAttr::get(&context, text)); };
  SizeExpr batch = name("batch"), length = name("length"), workers = name("workers"),
           rows = SizeExpr::symbol(xfmr::ArgumentAttr::get(&context, 0, 1)),
           count = SizeExpr::symbol(xfmr::ArgumentAttr::get(&context, 4, {}));

  testFormula(context, SizeExpr(0), 1);
  SizeExpr minus(-1), difference = (batch + minus * length) * (batch + length), squares = batch * batch + minus * length * length;
  expect(difference.str() == squares.str(), difference.str() + " is not " + squares.str());
  expect((batch * SizeExpr(0)).getConstant() == 0, (batch * SizeExpr(0)).str() + " is not the constant 0");
  // A symbol whose name looks like an expression or a number is still a symbol.
  expect(!(name("batch*length") == batch * length), "the dim batch*length equals a product");
  expect(!(name("2") == SizeExpr(2)), "the dim 2 equals a number");
  testFormula(context, name("batch*length") + batch * length, 1);
  testFormula(context, batch * length * SizeExpr(384) + SizeExpr(64), 1);
  testFormula(context, (batch * SizeExpr(8) + SizeExpr(8)).alignTo(64) * workers, 1);
  testFormula(context, rows * count + rows.ceilDiv(4).floorDiv(16), 1);
  // batch - 8 * floor(batch / 8) is a `mod` in the formula's map.
  testFormula(context, batch + batch.floorDiv(8) * SizeExpr(-8), 1);

  // Quotients are rounded down, also where a term is negative.
  SizeExpr below = batch * SizeExpr(4) + minus, quotient = below.floorDiv(4);
  expect(quotient == batch + minus, quotient.str() + " is not -1 + batch");
  expect((batch * SizeExpr(4) + SizeExpr(-4)).ceilDiv(4) == batch + minus, "4*batch - 4 divided by 4 is not batch - 1");
  expect((below + quotient * SizeExpr(-4)).getConstant() == 3, "4*batch - 1 modulo 4 is not 3");
  expect((batch + minus).floorDiv(4).evaluate([](Attribute) { return 0; }) == -1, "-1 divided by 4 is not rounded down");
  testFormula(context, (batch + minus).floorDiv(4), 1);

  // The map of a maximum has one result for each operand. An operand that another one bounds, as batch * 64 bounds
  // batch * 32, is dropped.
  SizeExpr either = SizeExpr::max(batch * SizeExpr(64), length * SizeExpr(64));
  testFormula(context, either, 2);
  testFormula(context, SizeExpr::max(either, batch * SizeExpr(32)), 2);
  testFormula(context, either + workers.ceilDiv(8) * SizeExpr(64), 2);
  expect(either.str() == "(64*batch > 64*length ? 64*batch : 64*length)", either.str());
  auto largest = SizeExpr::fromFormula(either.toFormula(&context));
  expect(largest.evaluate([&](Attribute symbol) { return symbol == StringAttr::get(&context, "batch") ? 2 : 3; }) == 192, "the larger one");

  std::mt19937 random(1);
  SizeExpr leaves[] = {batch, length, workers, rows, count, SizeExpr(1), SizeExpr(48)};
  for (int round = 0; round < 500; ++round) {
    SizeExpr size = randomSize(random, leaves, 1 + round % 5), back = SizeExpr::fromFormula(size.toFormula(&context));
    expect(size == back, size.str() + " became " + back.str());
  }
  std::printf(failures ? "%d failures\n" : "sizes: passed\n", failures);
  return failures != 0;
}
