//===- Schedule.h - Rules that schedule kernels -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_HALIDE_GEN_SCHEDULE_H
#define ATTUNE_COMPILER_TARGET_HALIDE_GEN_SCHEDULE_H

#include "compiler/Target/Halide/Gen/Algorithm.h"
#include "compiler/Target/Halide/Gen/Prefetch.h"

namespace attune {

/// Returns true if the elements of |stage| for one iteration of its |outer| outermost loops are known to take at most
/// 16 KiB, the limit of a stage on the stack.
bool fitsOnStack(const StageFunc &stage, size_t outer = 0);
/// Makes Halide store |stage| on the stack; does nothing if the stage is an output. The caller computes the stage
/// within its |outer| outermost loops, so that only the elements for one iteration of these loops are stored. Throws a
/// DescriptionError if these elements are not known to fit: descriptions must make large stages outputs.
void keepOnStack(StageFunc &stage, size_t outer = 0);
/// Schedules every stage to be computed one element at a time, as the description defines it. A stage that is no output
/// and fits on the stack is computed before its users. If it does not fit and its single user is elementwise with at
/// least one loop, one element of it is computed for each element of the user. Other stages that do not fit are
/// inlined; a DescriptionError is thrown for such a reduction.
void scheduleNone(Algorithm &algorithm, const Plan &plan);
/// Schedules |algorithm| by the rules at the top of Schedule.cpp. Returns the reads of weight panels for which
/// PrefetchPanels is to add prefetches.
std::vector<PanelRead> scheduleByRules(Algorithm &algorithm, const Plan &plan, const ScheduleOptions &options);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_HALIDE_GEN_SCHEDULE_H
