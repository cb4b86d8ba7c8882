//===- Algorithm.h - A description as Halide functions ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_HALIDE_GEN_ALGORITHM_H
#define ATTUNE_COMPILER_TARGET_HALIDE_GEN_ALGORITHM_H

#include "compiler/Target/Halide/Gen/Expression.h"
#include "compiler/Target/Halide/Gen/Plan.h"

#include <deque>

namespace attune {

/// Returns a name for Halide. A letter and a number, "a0", would clash with variables that Halide creates, even where
/// ours is in scope.
std::string nameFor(const std::string &name);

/// The part of the machine's schedule that the rules use.
struct ScheduleOptions {
  /// Lanes of a vector register.
  int lanes = 16;
  /// Rows and columns of a register tile.
  int tileRows = 12, tileColumns = 32;
  /// The distance at which tiles of few rows prefetch weights, in bytes.
  int prefetchAhead = 16 << 10;
};

struct RowTiles;

/// A stage, with the variables a schedule names. Halide counts dimensions from the innermost, descriptions from the
/// outermost.
struct StageFunc {
  const Stage *stage = nullptr;
  Halide::Func func;
  /// The loops' variables, innermost first.
  std::vector<Halide::Var> vars;
  std::vector<Halide::Expr> extents;
  Halide::RDom reduction;
  bool isOutput = false;
  /// If the stage is a host of tiles: its updates, in order, which together cover all rows. Otherwise empty.
  std::deque<RowTiles> tiles;
};

/// Consecutive rows of a host in tiles of one size.
struct RowTiles {
  int rows, columns;
  /// Row within the tile, tile.
  Halide::RVar row, tile;
  /// Column within the tile, tile of columns: only where the last tile overlaps the one before. Otherwise columns are
  /// the host's variable.
  std::optional<Halide::RVar> column, columnTile;
  /// The contraction.
  StageFunc sum;
  /// The contraction's results in memory, if the rest of the stage is too long to unroll; otherwise undefined.
  Halide::Func kept;
};

/// The functions of a description, and the arguments of a call of the kernel.
struct Algorithm {
  /// Without |plan| every stage is its definition; with it, hosts of tiles are made of tiles of |options|.
  Algorithm(const Description &description, const Plan *plan, const ScheduleOptions &options);

  StageFunc &at(const std::string &name);

  const Description &description;
  std::vector<StageFunc> stages;
  std::vector<Halide::Func> outputs;
  /// Inputs, then scalars, then the dynamic strides; Halide adds the outputs.
  std::vector<Halide::Argument> arguments;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_HALIDE_GEN_ALGORITHM_H
