//===- Plan.h - Which stages a schedule puts together -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_HALIDE_GEN_PLAN_H
#define ATTUNE_COMPILER_TARGET_HALIDE_GEN_PLAN_H

#include "compiler/Target/Halide/Gen/Description.h"

#include <map>

namespace attune {

/// The level at which a stage is computed: as a whole, as a register tile for each tile of its host, or inlined into
/// its user.
enum class Place { Whole, AtTile, Inline };

/// The decisions that follow from a description alone:
///
///   contraction       at a register tile of its host: the elementwise stage that uses it
///   other reduction   whole
///   elementwise       inlined into the one elementwise stage that uses it, otherwise whole
///
/// No rule recomputes a reduction for each element of its user, which would be correct but far too slow.
class Plan {
public:
  explicit Plan(const Description &description);

  Place placeOf(const Stage &stage) const { return places.at(&stage); }
  /// Returns the contraction whose tiles |host| computes; null if there is none.
  const Stage *contractionOf(const Stage &host) const;
  /// Returns the stages that tiles of |host| compute for themselves, in order: its contraction, and the inlined users
  /// of that.
  std::vector<const Stage *> tileStages(const Stage &host) const;
  /// Returns the only output if all stages have its rows and read only their own row, so that rows can be computed one
  /// by one; null otherwise.
  const Stage *rowHost() const;

  /// Returns the stages that read |stage|.
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

/// Returns true if |stage| sums products for rows and columns, which needs accumulators in registers.
bool isContraction(const Stage &stage);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_HALIDE_GEN_PLAN_H
