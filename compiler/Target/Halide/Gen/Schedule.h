//===- Schedule.h - Rules that schedule kernels -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_HALIDE_GEN_SCHEDULE_H
#define ATTUNE_COMPILER_TARGET_HALIDE_GEN_SCHEDULE_H

#include "compiler/Target/Halide/Gen/Algorithm.h"

namespace attune {

/// What of the machine's strategy the rules use.
struct ScheduleOptions {
  /// Lanes of a vector register.
  int lanes = 16;
  /// Rows and columns of a register tile.
  int tileRows = 12, tileColumns = 32;
};

/// Every stage by itself, one element at a time: the definition of the kernel.
void scheduleNone(Algorithm &algorithm);
/// The rules, see the file.
void scheduleByRules(Algorithm &algorithm, const ScheduleOptions &options);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_HALIDE_GEN_SCHEDULE_H
