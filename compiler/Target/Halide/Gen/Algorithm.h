//===- Algorithm.h - A description as Halide functions ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_HALIDE_GEN_ALGORITHM_H
#define ATTUNE_COMPILER_TARGET_HALIDE_GEN_ALGORITHM_H

#include "compiler/Target/Halide/Gen/Expression.h"
#include "compiler/Target/Halide/Gen/Plan.h"

#include <deque>

namespace attune {

/// Returns |name|, with an underscore after the first character if only digits follow that: "a_0" for "a0". Names such
/// as "a0" would clash with variables that Halide creates.
std::string nameFor(const std::string &name);

/// The machine's parameters for the scheduling rules (Schedule.cpp). The defaults are for AVX-512.
struct ScheduleOptions {
  /// Lanes of f32 of a vector register.
  int lanes = 16;
  /// The maximum rows and columns of a register tile.
  int tileRows = 12, tileColumns = 32;
  /// The distance at which register tiles with fewer than |tileRows| rows prefetch weights, in bytes.
  int prefetchAhead = 16 << 10;
};

struct RowTiles;

/// A stage of a description as a Halide function, with the variables that a schedule refers to. Halide counts
/// dimensions from the innermost, descriptions from the outermost.
struct StageFunc {
  const Stage *stage = nullptr;
  Halide::Func func;
  /// The variables of the parallel loops and the numbers of their iterations, innermost first.
  std::vector<Halide::Var> vars;
  std::vector<Halide::Expr> extents;
  /// The reduction loops, innermost first; undefined if the stage is not a reduction.
  Halide::RDom reduction;
  bool isOutput = false;
  /// For a host (see Plan.h), which is computed in register tiles: its update definitions in order, which together
  /// cover all rows. Empty for other stages.
  std::deque<RowTiles> tiles;
};

/// An update definition of a host: consecutive rows in register tiles of one size.
struct RowTiles {
  int rows, columns;
  /// The loop over the rows of a tile, and the loop over tiles of rows.
  Halide::RVar row, tile;
  /// The loop over the columns of a tile, and the loop over tiles of columns, if the last of these tiles overlaps the
  /// one before it. Otherwise nullopt, and the loop over columns is that of the host.
  std::optional<Halide::RVar> column, columnTile;
  /// The contraction whose sums each tile computes for itself. Its last variable is the number of the tile of rows.
  StageFunc sum;
  /// A copy of the contraction's results in memory, if the expressions that use them are too long to unroll; otherwise
  /// undefined.
  Halide::Func kept;
};

/// The functions of a description, and the arguments of a call of the kernel.
struct Algorithm {
  /// Creates the functions and arguments of |description|, which must outlive this object. With a null |plan| every
  /// stage has the definition of its description. Otherwise hosts are defined by register tiles with the sizes of
  /// |options|. Throws a DescriptionError if the description is wrong.
  Algorithm(const Description &description, const Plan *plan, const ScheduleOptions &options);

  /// Returns the stage called |name|; throws a DescriptionError if there is none.
  StageFunc &at(const std::string &name);

  const Description &description;
  std::vector<StageFunc> stages;
  std::vector<Halide::Func> outputs;
  /// Inputs, then scalars, then the dynamic strides; Halide adds the outputs.
  std::vector<Halide::Argument> arguments;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_HALIDE_GEN_ALGORITHM_H
