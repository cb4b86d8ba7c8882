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

/// Rewrites |module|, device code for NVPTX that is ready for translation to PTX, for |target|. Intrinsics and inline
/// PTX become calls of an emulator, shared variables become pieces of one array, kernels become functions of an array
/// of arguments. The symbol `attune_emulated_image` lists them all (see EmulatedImage.h).
Status rewriteForEmulator(llvm::Module &module, const HostMachine &target);

/// Does the same, then compiles and links. Returns the bytes of a shared object, an image of kind ATTUNE_IMAGE_CUBIN
/// and architecture emulated::arch for the driver in test/FakeCuda. Needs a linker.
Result<std::string> emulateDevice(std::unique_ptr<llvm::Module> module, const HostMachine &target);

} // namespace attune

#endif // ATTUNE_TEST_EMULATOR_EMULATEDEVICE_H
