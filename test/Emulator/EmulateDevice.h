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

/// Rewrites |module|, which is device code for NVPTX as it would be translated to PTX, for |target|: intrinsics and
/// inline PTX become calls of an emulator, shared variables pieces of one array, kernels functions of an array of
/// arguments, all listed in the symbol `attune_emulated_image` (see EmulatedImage.h).
Status rewriteForEmulator(llvm::Module &module, const HostMachine &target);

/// Compiles and links the text: returns the bytes of a shared object, an image of kind ATTUNE_IMAGE_CUBIN and
/// architecture emulated::arch for the driver in test/FakeCuda. Needs a linker.
Result<std::string> emulateDevice(std::unique_ptr<llvm::Module> module, const HostMachine &target);

} // namespace attune

#endif // ATTUNE_TEST_EMULATOR_EMULATEDEVICE_H
