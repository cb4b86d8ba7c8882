//===- RegisterEmulator.cpp - The GPUs of tools for tests -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/GpuSchedule.h"
#include "compiler/Target/NVVM/ImageEmitter.h"
#include "test/Emulator/EmulateDevice.h"
#include "test/Emulator/EmulatedImage.h"

namespace attune {

/// Makes tiles so small that small models have several of them, so that tests cover code that only large models would
/// run on a GPU.
static void shrink(mlir::rt::Schedule &schedule, GpuSchedule &own) {
  schedule.wideBlocks = 2;
  own.specificCacheBytes = 96 << 10;
}

/// Registers `emulator`, and `emulator_90a` for code of sm_90a.
void registerEmulator() {
  registerImageEmitter({"emulator", emulated::arch, false, emulateDevice, shrink});
  registerImageEmitter({"emulator_90a", emulated::arch, true, emulateDevice, shrink});
}

} // namespace attune
