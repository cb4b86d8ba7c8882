//===- SplitLongBlocks.cpp - Long blocks in several functions --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Object/SplitLongBlocks.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/CodeExtractor.h"

using namespace attune;

/// A block with more calls than this is split; one of a model with a hundred layers has about a thousand.
static constexpr unsigned kMostCalls = 2048;
/// Calls of each part.
static constexpr unsigned kCallsOfPart = 256;

static bool isCall(const llvm::Instruction &instruction) {
  return llvm::isa<llvm::CallInst>(instruction) && !llvm::isa<llvm::IntrinsicInst>(instruction);
}

/// True for an instruction without effects that may run earlier than it stands, whether or not the calls before it return.
static bool isMovable(const llvm::Instruction &instruction) {
  return !isCall(instruction) && !instruction.mayReadOrWriteMemory() && llvm::isSafeToSpeculativelyExecute(&instruction);
}

/// Moves computations that another part of |block| or its terminator uses, and those that they use, before the first call: parts then
/// have few results.
static void moveSharedComputations(llvm::BasicBlock &block) {
  llvm::DenseMap<const llvm::Instruction *, unsigned> parts;
  unsigned calls = 0;
  llvm::Instruction *first = nullptr;
  for (llvm::Instruction &instruction : block) {
    if (isCall(instruction) && calls++ == 0)
      first = &instruction;
    if (first)
      parts[&instruction] = (calls - 1) / kCallsOfPart;
  }
  parts.erase(block.getTerminator()); // it stays behind the last part
  llvm::SetVector<llvm::Instruction *> moving;
  for (llvm::Instruction &instruction : llvm::make_range(first->getIterator(), block.end())) {
    auto isElsewhere = [&](llvm::User *user) {
      auto it = parts.find(llvm::cast<llvm::Instruction>(user));
      return it == parts.end() || it->second != parts[&instruction];
    };
    if (isMovable(instruction) && llvm::any_of(instruction.users(), isElsewhere))
      moving.insert(&instruction);
  }
  for (unsigned i = 0; i != moving.size(); ++i)
    for (llvm::Value *operand : moving[i]->operands())
      if (auto *producer = llvm::dyn_cast<llvm::Instruction>(operand); producer && parts.contains(producer) && isMovable(*producer))
        moving.insert(producer);
  // A computation of what a part loads or a call returns stays; the part then returns it through memory.
  llvm::SmallPtrSet<const llvm::Instruction *, 32> staying;
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::make_range(first->getIterator(), block.end()))) {
    bool canMove = moving.contains(&instruction) && llvm::none_of(instruction.operands(), [&](const llvm::Use &operand) {
                     auto *producer = llvm::dyn_cast<llvm::Instruction>(operand.get());
                     return producer && staying.contains(producer);
                   });
    if (canMove)
      instruction.moveBefore(first->getIterator());
    else
      staying.insert(&instruction);
  }
}

/// Cuts |block| into parts of kCallsOfPart calls, from its first call to before its terminator.
static llvm::SmallVector<llvm::BasicBlock *> cutBlock(llvm::BasicBlock &block) {
  llvm::SmallVector<llvm::Instruction *> starts;
  unsigned calls = 0;
  for (llvm::Instruction &instruction : block)
    if (isCall(instruction) && calls++ % kCallsOfPart == 0)
      starts.push_back(&instruction);
  llvm::SmallVector<llvm::BasicBlock *> parts;
  // From the last part on, so that each instruction moves once.
  block.splitBasicBlock(block.getTerminator(), block.getName() + ".end");
  for (llvm::Instruction *start : llvm::reverse(starts))
    parts.push_back(block.splitBasicBlock(start, block.getName() + ".part"));
  std::reverse(parts.begin(), parts.end());
  return parts;
}

void attune::splitLongBlocks(llvm::Module &module) {
  llvm::SmallVector<llvm::BasicBlock *> blocks;
  for (llvm::Function &function : module)
    for (llvm::BasicBlock &block : function)
      if (llvm::count_if(block, isCall) > kMostCalls)
        blocks.push_back(&block);
  for (llvm::BasicBlock *block : blocks) {
    moveSharedComputations(*block);
    for (llvm::BasicBlock *part : cutBlock(*block)) {
      llvm::CodeExtractorAnalysisCache cache(*part->getParent());
      llvm::CodeExtractor extractor(part, /*DT=*/nullptr, /*AggregateArgs=*/false, /*BFI=*/nullptr, /*BPI=*/nullptr, /*AC=*/nullptr,
                                    /*AllowVarArgs=*/false, /*AllowAlloca=*/false, /*AllocationBlock=*/nullptr, "part");
      if (!extractor.isEligible())
        continue;
      if (llvm::Function *made = extractor.extractCodeRegion(cache)) {
        made->setLinkage(llvm::GlobalValue::InternalLinkage);
        made->addFnAttr(llvm::Attribute::NoInline);
      }
    }
  }
}
