//===- ModuleTarget.h - The target that a module carries --------*- C++ -*-===//
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

/// Returns the target that |request|, |cpu| and |triple|, the options of a pipeline `attune-to-PHASE`, describe. An
/// empty |triple| means x86_64-unknown-linux-gnu. An empty |cpu| means x86-64-v4 for x86-64, and for another
/// architecture its baseline CPU. So the result does not depend on the machine that runs the compiler. Fails if this
/// build lacks the target, or if the target does not accept an option.
Result<std::unique_ptr<Target>> createTarget(const TargetRequest &request, const std::string &cpu, const std::string &triple);

/// Sets `rt.target` and `rt.schedule` of |module| to |target| and its schedule.
void setTarget(mlir::ModuleOp module, const Target &target);

/// Returns the target and the schedule that |module| carries. A missing target means the first target of the build, for
/// x86-64 with AVX-512 in f32; a missing schedule follows from the target. Fails, with an error on the module, if this
/// build lacks the target, or if the target does not accept the properties in `rt.target`.
mlir::FailureOr<ModuleTarget> readTarget(mlir::ModuleOp module);

} // namespace attune

#endif // ATTUNE_COMPILER_PIPELINES_MODULETARGET_H
