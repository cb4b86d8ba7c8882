//===- EmulatedImage.h - Device code made for the host --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface between a shared object that emulateDevice makes and the driver that runs it (test/FakeCuda): plain
// structures, and two functions that the driver provides.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_EMULATOR_EMULATEDIMAGE_H
#define ATTUNE_TEST_EMULATOR_EMULATEDIMAGE_H

#include <cstdint>

namespace attune::emulated {

/// Compute capability of the emulated GPU, times 10. No real GPU has it.
constexpr uint32_t arch = 10;
/// Bytes of shared memory of a block, static and dynamic.
constexpr uint32_t sharedBytes = 227 * 1024;
/// The first value of an image.
constexpr uint64_t magic = 0x31554d4545545441; // "ATTEEMU1"

/// An operation that only GPUs have: an intrinsic, or a text of inline PTX.
struct Operation {
  const char *name;
  void *handler; ///< set by the loader of the image
  uint32_t numInputs, numOutputs;
};

struct Kernel {
  const char *name;
  /// Runs one thread; |args| are pointers to the values of the arguments.
  void (*run)(void *const *args);
  const uint32_t *argBytes; ///< [numArgs], sizes of the arguments
  uint32_t numArgs;
  uint32_t threads;    ///< of a block, 0 if any number will do
  uint32_t maxThreads; ///< 0 if unlimited
  uint32_t reserved;
};

/// The special registers of the current thread; the driver sets them.
struct Registers {
  uint32_t tid[3], ntid[3], ctaid[3], nctaid[3];
  uint32_t laneid, warpid;
  uint32_t watch; ///< 1: emulated_access is called for every access to memory
  uint32_t reserved;
};

/// The symbol `attune_emulated_image`.
struct Image {
  uint64_t magic;
  uint32_t numKernels, numOperations;
  const Kernel *kernels;
  Operation *operations;
  char *shared;          ///< [sharedBytes]; static variables first
  uint32_t staticShared; ///< where dynamic memory begins
  uint32_t reserved;
  Registers *registers;
};

} // namespace attune::emulated

/// Executes |operation|; every value has 64 bits.
extern "C" void attune_emulate(attune::emulated::Operation *operation, const uint64_t *inputs, uint64_t *outputs);
/// Checks an access to memory; |kind| is 0 for a load, 1 for a store, 2 for an atomic operation.
extern "C" void attune_emulate_access(const void *data, uint64_t bytes, uint32_t kind);

#endif // ATTUNE_TEST_EMULATOR_EMULATEDIMAGE_H
