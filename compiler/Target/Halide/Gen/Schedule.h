//===- Schedule.h - Rules that schedule kernels -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_HALIDE_GEN_SCHEDULE_H
#define ATTUNE_COMPILER_TARGET_HALIDE_GEN_SCHEDULE_H

#include "compiler/Target/Halide/Gen/Algorithm.h"
#include "compiler/Target/Halide/Gen/Prefetch.h"

namespace attune {

/// Whether |stage| fits on the stack but for its |outer| outermost loops.
bool fitsOnStack(const StageFunc &stage, size_t outer = 0);
/// Keeps |stage|, if it is not an output, on the stack, but for its |outer| outermost loops. Throws DescriptionError if it does not fit: a
/// caller gives what is large, as outputs.
void keepOnStack(StageFunc &stage, size_t outer = 0);
/// Every stage by itself, one element at a time: the definition of the kernel.
void scheduleNone(Algorithm &algorithm, const Plan &plan);
/// The rules, see the file. Gives the weights that are to be prefetched.
std::vector<PanelRead> scheduleByRules(Algorithm &algorithm, const Plan &plan, const ScheduleOptions &options);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_HALIDE_GEN_SCHEDULE_H
