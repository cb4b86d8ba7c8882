//===- RegisterEmulator.cpp - The emulated GPUs of test tools ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/GpuSchedule.h"
#include "compiler/Target/NVVM/ImageEmitter.h"
#include "test/Emulator/EmulateDevice.h"
#include "test/Emulator/EmulatedImage.h"

namespace attune {

/// Lowers two parameters of the schedule, so that small models use code that only large models use on a GPU: wide
/// thread-block tiles, and an attention that limits the keys and values which concurrent blocks read.
static void shrink(mlir::rt::Schedule &schedule, GpuSchedule &own) {
  schedule.wideBlocks = 2;
  own.specificCacheBytes = 96 << 10;
}

/// Registers the GPU `emulator`, and the GPU `emulator_90a`, whose code may use instructions of sm_90a.
void registerEmulator() {
  registerImageEmitter({"emulator", emulated::arch, false, emulateDevice, shrink});
  registerImageEmitter({"emulator_90a", emulated::arch, true, emulateDevice, shrink});
}

} // namespace attune
