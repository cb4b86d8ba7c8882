//===- EmulateDevice.h - Device code for a machine without GPU -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_EMULATOR_EMULATEDEVICE_H
#define ATTUNE_TEST_EMULATOR_EMULATEDEVICE_H

#include "compiler/Object/HostMachine.h"
#include "llvm/IR/Module.h"

#include <memory>
#include <string>

namespace attune {

/// Rewrites |module|, LLVM IR for NVPTX that would otherwise be compiled to PTX, for the host |target|. Intrinsics of
/// NVPTX and inline PTX become calls of `attune_emulate`, except that reads of special registers become loads.
/// `attune_emulate_access` is called before accesses to memory. All variables in shared memory become pieces of one
/// array, and each kernel gets a function that takes its arguments from an array. The symbol `attune_emulated_image`
/// describes the result (EmulatedImage.h). Fails if static shared memory is larger than emulated::sharedBytes, or if
/// rewriteOperations fails.
Status rewriteForEmulator(llvm::Module &module, const HostMachine &target);

/// Calls rewriteForEmulator on |module|, and compiles and links the result. Returns the bytes of a shared object, which
/// the driver in test/FakeCuda loads as an image of kind ATTUNE_IMAGE_CUBIN and architecture emulated::arch. Fails if
/// rewriteForEmulator or linkShared fails, as linkShared does without a linker.
Result<std::string> emulateDevice(std::unique_ptr<llvm::Module> module, const HostMachine &target);

} // namespace attune

#endif // ATTUNE_TEST_EMULATOR_EMULATEDEVICE_H
