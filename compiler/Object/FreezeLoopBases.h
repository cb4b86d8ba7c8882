//===- FreezeLoopBases.h - Base addresses of inner loops --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_OBJECT_FREEZELOOPBASES_H
#define ATTUNE_COMPILER_OBJECT_FREEZELOOPBASES_H

#include "llvm/IR/PassManager.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"

namespace attune {

/// Freezes the pointers that an innermost loop uses and that instructions before the loop compute. Loop strength
/// reduction then treats each such pointer as one value. Otherwise it would try the ways to split the computation of
/// the pointer, which takes most of the time of loop strength reduction and makes no inner loop shorter.
struct FreezeLoopBases : llvm::PassInfoMixin<FreezeLoopBases> {
  llvm::PreservedAnalyses run(llvm::Loop &loop, llvm::LoopAnalysisManager &analyses, llvm::LoopStandardAnalysisResults &results,
                              llvm::LPMUpdater &updater);
};

} // namespace attune

#endif // ATTUNE_COMPILER_OBJECT_FREEZELOOPBASES_H
