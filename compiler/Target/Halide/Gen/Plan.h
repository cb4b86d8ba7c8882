//===- Plan.h - Which stages a schedule puts together -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_HALIDE_GEN_PLAN_H
#define ATTUNE_COMPILER_TARGET_HALIDE_GEN_PLAN_H

#include "compiler/Target/Halide/Gen/Description.h"

#include <map>

namespace attune {

/// The place at which a stage is computed: as a whole before its users, in a register tile of its host, or inlined into
/// its user. The host of a contraction is the elementwise stage that reads its sums and is computed tile by tile.
enum class Place { Whole, AtTile, Inline };

/// The scheduling decisions that depend only on the description. A stage that is not a reduction is called elementwise.
/// Places are chosen as follows:
///
///   contraction       in a register tile of its host, if it has one, otherwise whole
///   other reduction   whole
///   elementwise       inlined if an elementwise stage is its only user, otherwise whole
///
/// Outputs are always whole, and a host has at most one contraction. The plan refers to the stages of the description,
/// which must outlive it.
///
/// No rule recomputes a reduction for each element of its user, which would be correct but far too slow.
class Plan {
public:
  explicit Plan(const Description &description);

  Place placeOf(const Stage &stage) const { return places.at(&stage); }
  /// Returns the contraction that is computed in the register tiles of |host|; null if |host| is the host of none.
  const Stage *contractionOf(const Stage &host) const;
  /// Returns the stages that each tile of |host| computes for itself, in order: the contraction, then the inlined
  /// stages between it and the host. |host| must have a contraction.
  std::vector<const Stage *> tileStages(const Stage &host) const;
  /// Returns the last stage if the kernel can be computed row by row, all stages for one row before the next row;
  /// otherwise null. A row is an iteration of `d0`. The kernel can be computed so if the last stage is the only output
  /// and has two or more parallel loops, no stage is computed in register tiles, all stages have as many rows as the
  /// last one, and row i of a stage reads only row i of other stages.
  const Stage *rowHost() const;

  /// Returns the stages that read |stage|, in the order of the description.
  std::vector<const Stage *> usersOf(const Stage &stage) const;

private:
  const Stage *hostOf(const Stage &stage) const;
  Place choosePlace(const Stage &stage) const;
  bool readsOwnRow(const Term &term) const;
  bool isOutput(const Stage &stage) const;

  const Description &description;
  std::map<const Stage *, Place> places;
  std::map<const Stage *, const Stage *> contractions;
};

/// Returns true if |stage| is a sum of products with at least two parallel loops (rows and columns). Its accumulators
/// should be in registers.
bool isContraction(const Stage &stage);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_HALIDE_GEN_PLAN_H
