//===- FreezeLoopBases.cpp - Base addresses of inner loops ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An inner loop of a kernel reads rows of matrices. The address of a row is computed before the loop, from the number
// of the block, of the tile and of the row, and the loop adds its induction variable:
//
//   before                                     after
//     %base = gep %a, (%block * 36 + %tile) * 4   %base = gep %a, (%block * 36 + %tile) * 4
//                                                 %whole = freeze ptr %base
//   loop:                                       loop:
//     %p = gep %base, %i * 4                      %p = gep %whole, %i * 4
//
// In the code generator, loop strength reduction chooses what to keep in registers for the addresses of a loop. It
// looks through %base, finds a sum of many terms, and tries the ways to divide the sum among registers, for each
// address and again for all together. The loop needs only the whole sum. Loop strength reduction does not look through
// a `freeze`. The `freeze` costs nothing: it becomes a copy, which register allocation removes. Bases that differ by a
// constant no longer share a register; on x86-64, where this was measured, no inner loop became longer.
//
// Arguments, constants and allocations are no sums, so their uses stay as they are. A use of a value may always be
// replaced by the `freeze` of the value: the two differ only if the value is poison or undefined.

#include "compiler/Object/FreezeLoopBases.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"

using namespace attune;

llvm::PreservedAnalyses FreezeLoopBases::run(llvm::Loop &loop, llvm::LoopAnalysisManager &, llvm::LoopStandardAnalysisResults &,
                                             llvm::LPMUpdater &) {
  llvm::BasicBlock *preheader = loop.getLoopPreheader();
  if (!loop.isInnermost() || !preheader)
    return llvm::PreservedAnalyses::all();
  llvm::IRBuilder<> builder(preheader->getTerminator());
  llvm::DenseMap<llvm::Instruction *, llvm::Value *> frozen;
  for (llvm::BasicBlock *block : loop.blocks())
    for (llvm::Instruction &instruction : *block) {
      // A phi of the header takes its operand once, before the first iteration. Phis of other blocks are rare in
      // kernels.
      if (llvm::isa<llvm::PHINode>(instruction))
        continue;
      for (llvm::Use &use : instruction.operands()) {
        auto *base = llvm::dyn_cast<llvm::Instruction>(use.get());
        if (!base || !base->getType()->isPointerTy() || loop.contains(base) || llvm::isa<llvm::AllocaInst, llvm::FreezeInst>(base))
          continue;
        llvm::Value *&whole = frozen[base];
        if (!whole)
          whole = builder.CreateFreeze(base);
        use.set(whole);
      }
    }
  return frozen.empty() ? llvm::PreservedAnalyses::all() : llvm::getLoopPassPreservedAnalyses();
}
