//===- OperationCalls.h - Calls of GPU operations ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_EMULATOR_OPERATIONCALLS_H
#define ATTUNE_TEST_EMULATOR_OPERATIONCALLS_H

#include "compiler/Support/Status.h"
#include "llvm/IR/Module.h"

namespace attune {

/// The operations of an emulated image.
struct OperationTable {
  llvm::Constant *operations = nullptr; ///< an array of |count| emulated::Operation; a null pointer if empty
  uint32_t count = 0;
};

/// Replaces reads of special registers in |module| by loads from |registers| (an emulated::Registers), reads of the
/// warp size by 32, and calls of every other intrinsic of NVPTX and every inline PTX by calls of attune_emulate.
/// Returns the operations that are called. Fails if an operand or result of such a call has more than 64 bits.
Result<OperationTable> rewriteOperations(llvm::Module &module, llvm::GlobalVariable *registers);
/// Inserts a call of attune_emulate_access before each load, store and `atomicrmw` in |module|, except accesses to
/// local variables and to |registers| (an emulated::Registers). At run time the call is skipped if Registers::watch is
/// 0.
void watchAccesses(llvm::Module &module, llvm::GlobalVariable *registers);

} // namespace attune

#endif // ATTUNE_TEST_EMULATOR_OPERATIONCALLS_H
