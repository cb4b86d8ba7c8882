//===- Algorithm.h - A description as Halide functions ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_HALIDE_GEN_ALGORITHM_H
#define ATTUNE_COMPILER_TARGET_HALIDE_GEN_ALGORITHM_H

#include "compiler/Target/Halide/Gen/Description.h"

#include <Halide.h>
#include <map>

namespace attune {

/// A stage, with the variables a schedule names. Halide counts dimensions from the innermost, descriptions from the outermost.
struct StageFunc {
  const Stage *stage = nullptr;
  Halide::Func func;
  /// Innermost first.
  std::vector<Halide::Var> vars;
  std::vector<Halide::Expr> extents;
  Halide::RDom reduction;
  /// Names of the stages its body reads, one for each load.
  std::vector<std::string> reads;
  bool isOutput = false;
};

/// The unscheduled functions of a description and what a call of the kernel takes.
struct Algorithm {
  explicit Algorithm(const Description &description);

  StageFunc &at(const std::string &name);

  const Description &description;
  std::vector<StageFunc> stages;
  std::vector<Halide::Func> outputs;
  /// Inputs, then scalars, then the strides that are not fixed; outputs follow by themselves.
  std::vector<Halide::Argument> arguments;
};

/// Whether |stage| adds up products for a tile of rows and columns: what wants accumulators in registers.
bool isContraction(const Stage &stage);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_HALIDE_GEN_ALGORITHM_H
