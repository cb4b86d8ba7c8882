//===- FreezeLoopBases.h - Base addresses of inner loops --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_OBJECT_FREEZELOOPBASES_H
#define ATTUNE_COMPILER_OBJECT_FREEZELOOPBASES_H

#include "llvm/IR/PassManager.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"

namespace attune {

/// Freezes the pointers that an innermost loop uses and that instructions before the loop compute. Loop strength
/// reduction then takes each of them as a whole instead of trying the ways to split its computation, which would be most
/// of the time that it takes; the inner loops that it makes are as short or shorter.
struct FreezeLoopBases : llvm::PassInfoMixin<FreezeLoopBases> {
  llvm::PreservedAnalyses run(llvm::Loop &loop, llvm::LoopAnalysisManager &analyses, llvm::LoopStandardAnalysisResults &results,
                              llvm::LPMUpdater &updater);
};

} // namespace attune

#endif // ATTUNE_COMPILER_OBJECT_FREEZELOOPBASES_H
