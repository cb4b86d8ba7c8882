//===- RegisterTargets.h - The targets of this build -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_ALL_REGISTERTARGETS_H
#define ATTUNE_COMPILER_TARGET_ALL_REGISTERTARGETS_H

namespace attune {

/// Registers every target and kernel backend of this build; later calls do nothing. Programs call this function before
/// they use targets, or the passes and dialects of targets.
void registerAllTargets();

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_ALL_REGISTERTARGETS_H
