//===- Schedule.h - Rules that schedule kernels -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_HALIDE_GEN_SCHEDULE_H
#define ATTUNE_COMPILER_TARGET_HALIDE_GEN_SCHEDULE_H

#include "compiler/Target/Halide/Gen/Algorithm.h"
#include "compiler/Target/Halide/Gen/Prefetch.h"

namespace attune {

/// Returns true if the elements of |stage| for one iteration of its |outer| outermost loops are known to fit on the
/// stack.
bool fitsOnStack(const StageFunc &stage, size_t outer = 0);
/// Makes Halide store |stage| on the stack; does nothing if the stage is an output. The caller sets the loop at which the
/// stage is computed, so that it holds the elements for one iteration of its |outer| outermost loops. Throws
/// DescriptionError if these elements are not known to fit: descriptions must make large stages outputs.
void keepOnStack(StageFunc &stage, size_t outer = 0);
/// Schedules every stage by itself, one element at a time, as the description defines it. Throws DescriptionError if a
/// reduction neither fits on the stack nor has a single elementwise user.
void scheduleNone(Algorithm &algorithm, const Plan &plan);
/// Schedules by the rules at the top of Schedule.cpp. Returns the weight panels to prefetch.
std::vector<PanelRead> scheduleByRules(Algorithm &algorithm, const Plan &plan, const ScheduleOptions &options);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_HALIDE_GEN_SCHEDULE_H
