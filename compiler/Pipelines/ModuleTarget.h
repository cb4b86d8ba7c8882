//===- ModuleTarget.h - The target that a module carries -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PIPELINES_MODULETARGET_H
#define ATTUNE_COMPILER_PIPELINES_MODULETARGET_H

#include "compiler/Target/Target.h"

namespace attune {

/// The target and the schedule of a module.
struct ModuleTarget {
  std::unique_ptr<Target> target;
  mlir::rt::Schedule schedule;
};

/// Returns the target for the flags of the phase pipelines. Without |triple| it is for x86-64, and
/// without |cpu|, too, for one with AVX-512, on any machine.
Result<std::unique_ptr<Target>> createTarget(const TargetRequest &request, const std::string &cpu, const std::string &triple);

/// Lets |module| carry |target| and its schedule.
void setTarget(mlir::ModuleOp module, const Target &target);

/// Returns what |module| carries. Without a target it is the first one of the build, for x86-64 with AVX-512 in f32; a schedule that is
/// missing follows from the target. Fails, with an error on the module, if this build does not have the target.
mlir::FailureOr<ModuleTarget> readTarget(mlir::ModuleOp module);

} // namespace attune

#endif // ATTUNE_COMPILER_PIPELINES_MODULETARGET_H
