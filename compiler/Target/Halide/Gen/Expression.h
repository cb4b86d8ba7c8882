//===- Expression.h - Halide expressions of terms ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_HALIDE_GEN_EXPRESSION_H
#define ATTUNE_COMPILER_TARGET_HALIDE_GEN_EXPRESSION_H

#include "compiler/Target/Halide/Gen/Description.h"

#include <Halide.h>
#include <map>

namespace attune {

/// The Halide values of the names in one kernel.
struct Scope {
  std::map<std::string, Halide::Expr> scalars;
  std::map<std::string, Halide::ImageParam> inputs;
  std::map<std::string, Halide::Func> stages;
  /// The values of the stages that a register tile computes for itself, by the stage's name. A load of such a stage
  /// becomes this expression, the value at the reader's own point; its indices are not used, since the plan (Plan.h)
  /// admits only stages that are read at the reader's own point.
  std::map<std::string, Halide::Expr> values;
};

/// A builder of Halide expressions from the terms of one stage. |indices| are the values of the stage's loops `d0`,
/// `d1`, …, and |accumulator| is the value of `acc`; if |accumulator| is undefined, `acc` is an error.
class ExpressionBuilder {
public:
  ExpressionBuilder(const Scope &scope, std::vector<Halide::Expr> indices, Halide::Expr accumulator)
      : scope(scope), indices(std::move(indices)), accumulator(std::move(accumulator)) {}

  /// Returns the expression of |term|. Throws a DescriptionError if a word in it is unknown or has a wrong number of
  /// operands, or if a load has a wrong number of indices.
  Halide::Expr build(const Term &term);

private:
  Halide::Expr word(const std::string &text);
  Halide::Expr load(const Term &term);

  const Scope &scope;
  std::vector<Halide::Expr> indices;
  Halide::Expr accumulator;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_HALIDE_GEN_EXPRESSION_H
