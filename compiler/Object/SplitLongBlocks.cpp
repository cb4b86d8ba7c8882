//===- SplitLongBlocks.cpp - Long blocks in several functions -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The entry of a model with hundreds of layers is one basic block with thousands of calls, one for each kernel. The
// time of LLVM's register allocation grows with the square of the length of a block. So a block with more than 2048
// calls is cut into parts of 256 calls, and each part becomes an internal function that is not inlined:
//
//   before                             after
//     %a = load %args                    %a = load %args
//     call @k0(%a)                       %y = add %a, 64            computed before the first call, since two parts use it
//     %y = add %a, 64                    call @entry.part(%a, %y)    256 calls: @k0(%a), ..., @k255(%y)
//     ...                                call @entry.part.1(%y)     256 calls
//     call @k255(%y)                     ...
//     ...
//     ret                                ret                        the terminator and the code before the first call stay
//
// A part gets the values of earlier code that it uses as arguments. Values of the part that later code uses are
// returned through memory. To keep such values few, moveSharedComputations first moves instructions whose results
// another part or the terminator uses, and the instructions that compute their operands, to before the first call. It
// moves only instructions without effects that may be executed speculatively. An instruction that depends on a load or
// on the result of a call stays in its part.
//
// Works on any block of any function in LLVM IR; calls of intrinsics do not count. Invariants: calls, loads and stores
// keep their order, and every value is computed by the same instruction. A part that LLVM's CodeExtractor cannot
// extract stays in the block.

#include "compiler/Object/SplitLongBlocks.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/CodeExtractor.h"

using namespace attune;

/// The most calls of a block that is not split. The entry of a model with a hundred layers has about a thousand calls.
static constexpr unsigned kMostCalls = 2048;
/// The number of calls of a part; the last part may have fewer.
static constexpr unsigned kCallsOfPart = 256;

static bool isCall(const llvm::Instruction &instruction) {
  return llvm::isa<llvm::CallInst>(instruction) && !llvm::isa<llvm::IntrinsicInst>(instruction);
}

/// Returns true if |instruction| has no effects and may be executed before the calls that precede it, even if one of
/// these does not return.
static bool isMovable(const llvm::Instruction &instruction) {
  return !isCall(instruction) && !instruction.mayReadOrWriteMemory() && llvm::isSafeToSpeculativelyExecute(&instruction);
}

/// Prepares |block| for cutBlock: moves instructions of a part whose results another part or the terminator uses, and
/// the computations of their operands, to before the first call, so that parts have few results.
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
  parts.erase(block.getTerminator()); // stays after the last part
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
  // An instruction that depends on a load or on the result of a call stays; its part returns the value through memory.
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

/// Cuts |block| into parts of kCallsOfPart calls, from its first call to the instruction before its terminator. Returns
/// the parts in order.
static llvm::SmallVector<llvm::BasicBlock *> cutBlock(llvm::BasicBlock &block) {
  llvm::SmallVector<llvm::Instruction *> starts;
  unsigned calls = 0;
  for (llvm::Instruction &instruction : block)
    if (isCall(instruction) && calls++ % kCallsOfPart == 0)
      starts.push_back(&instruction);
  llvm::SmallVector<llvm::BasicBlock *> parts;
  // The last part is split off first, so that each instruction moves to another block once.
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
