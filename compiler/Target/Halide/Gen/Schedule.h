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
/// Makes Halide store |stage| on the stack; does nothing if the stage is an output. The caller sets the loop at which
/// the stage is computed, so that it holds the elements for one iteration of its |outer| outermost loops. Throws
/// DescriptionError if these elements are not known to fit: descriptions must make large stages outputs.
void keepOnStack(StageFunc &stage, size_t outer = 0);
/// Schedules every stage to be computed one element at a time, as the description defines it. A stage that fits on the
/// stack is computed before its users. Another stage is computed for one element of its user at a time if it has a
/// single user and that is elementwise; otherwise it is inlined, or, if it is a reduction, a DescriptionError is
/// thrown.
void scheduleNone(Algorithm &algorithm, const Plan &plan);
/// Schedules |algorithm| by the rules at the top of Schedule.cpp. Returns the reads of weight panels to prefetch for.
std::vector<PanelRead> scheduleByRules(Algorithm &algorithm, const Plan &plan, const ScheduleOptions &options);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_HALIDE_GEN_SCHEDULE_H
