//===- OperationCalls.h - Calls of GPU operations -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_EMULATOR_OPERATIONCALLS_H
#define ATTUNE_TEST_EMULATOR_OPERATIONCALLS_H

#include "compiler/Support/Status.h"
#include "llvm/IR/Module.h"

namespace attune {

/// The arrays of an emulated image that its code refers to.
struct OperationTable {
  llvm::Constant *operations = nullptr; ///< [count] of emulated::Operation
  uint32_t count = 0;
};

/// Replaces reads of special registers in |module| by loads from |registers| (an emulated::Registers), and every other
/// intrinsic of NVPTX and inline PTX by a call of attune_emulate. Errors name an operand that does not fit 64 bits.
Result<OperationTable> rewriteOperations(llvm::Module &module, llvm::GlobalVariable *registers);
/// Adds a call of attune_emulate_access to every access of |module| to memory that other threads may see; the calls run
/// only if Registers::watch is set.
void watchAccesses(llvm::Module &module, llvm::GlobalVariable *registers);

} // namespace attune

#endif // ATTUNE_TEST_EMULATOR_OPERATIONCALLS_H
