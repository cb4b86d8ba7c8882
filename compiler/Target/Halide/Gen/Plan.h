//===- Plan.h - Which stages a schedule puts together -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_HALIDE_GEN_PLAN_H
#define ATTUNE_COMPILER_TARGET_HALIDE_GEN_PLAN_H

#include "compiler/Target/Halide/Gen/Description.h"

#include <map>

namespace attune {

/// Where a stage is computed: all of it by itself, a register tile of it for each tile of its host, or as a part of the stage that uses it.
enum class Place { Whole, AtTile, Inline };

/// What the rules decide by a description alone:
///
///   contraction       at a register tile of its host: the elementwise stage that uses it
///   other reduction   whole
///   elementwise       part of the one elementwise stage that uses it, otherwise whole
///
/// No rule computes a reduction again for each element of its user, which would be correct and take for ever.
class Plan {
public:
  explicit Plan(const Description &description);

  Place placeOf(const Stage &stage) const { return places.at(&stage); }
  /// The contraction whose tiles |host| is made of; null if it is not.
  const Stage *contractionOf(const Stage &host) const;
  /// The stages that tiles of |host| have for themselves, in order: its contraction, and what is part of it and uses that.
  std::vector<const Stage *> tileStages(const Stage &host) const;
  /// The only output, if all stages are of its rows and read their own row alone; null otherwise. Its rows can be computed one by one.
  const Stage *rowHost() const;

  /// The stages that read |stage|.
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

/// Whether |stage| adds up products for a tile of rows and columns: what wants accumulators in registers.
bool isContraction(const Stage &stage);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_HALIDE_GEN_PLAN_H
