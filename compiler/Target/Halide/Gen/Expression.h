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
  /// Stages whose value at the reader's own point is an expression; all loads of these stages become that expression.
  std::map<std::string, Halide::Expr> values;
};

/// Builds Halide expressions from the terms of one stage. |indices| are the values of the stage's loops `d0`, `d1`, …,
/// and |accumulator| is the value of `acc`, which may be undefined.
class ExpressionBuilder {
public:
  ExpressionBuilder(const Scope &scope, std::vector<Halide::Expr> indices, Halide::Expr accumulator)
      : scope(scope), indices(std::move(indices)), accumulator(std::move(accumulator)) {}

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
