//===- EmulatedImage.h - Device code made for the host --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface between a shared object that emulateDevice makes, called an image, and the program that runs it
// (test/FakeCuda): structures in the image, and two functions that the program provides.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_EMULATOR_EMULATEDIMAGE_H
#define ATTUNE_TEST_EMULATOR_EMULATEDIMAGE_H

#include <cstdint>

namespace attune::emulated {

/// The compute capability of the emulated GPU, times 10. No GPU that the compiler supports has it.
constexpr uint32_t arch = 10;
/// The most bytes of shared memory of a block, static and dynamic together.
constexpr uint32_t sharedBytes = 227 * 1024;
/// The value of Image::magic.
constexpr uint64_t magic = 0x31554d4545545441; // "ATTEEMU1"

/// An operation that only GPUs have: an intrinsic of NVPTX, or a text of inline PTX. |name| is the name of the
/// intrinsic or the text. All calls with the same name and the same numbers of inputs and outputs share one operation.
struct Operation {
  const char *name;
  void *handler; ///< set by the program that loads the image, for its own use
  uint32_t numInputs, numOutputs;
};

struct Kernel {
  const char *name;
  /// Runs one thread of the kernel. `args[i]` points to the value of argument i.
  void (*run)(void *const *args);
  const uint32_t *argBytes; ///< [numArgs], the sizes of the arguments in bytes
  uint32_t numArgs;
  uint32_t threads;    ///< the threads that a block must have, 0 if any number is allowed
  uint32_t maxThreads; ///< the most threads of a block, 0 if unlimited
  uint32_t reserved;
};

/// The special registers of the running thread, named as in PTX. The program that runs threads sets them before a
/// thread continues.
struct Registers {
  uint32_t tid[3], ntid[3], ctaid[3], nctaid[3];
  uint32_t laneid, warpid;
  uint32_t watch; ///< 1 if the code must call attune_emulate_access before accesses to memory, else 0
  uint32_t reserved;
};

/// The type of the symbol `attune_emulated_image`.
struct Image {
  uint64_t magic;
  uint32_t numKernels, numOperations;
  const Kernel *kernels;
  Operation *operations;
  char *shared;          ///< [sharedBytes], shared memory of the running block: static variables, then the dynamic part
  uint32_t staticShared; ///< the offset in bytes in |shared| at which the dynamic part begins
  uint32_t reserved;
  Registers *registers;
};

} // namespace attune::emulated

/// Executes |operation| for the running thread. Each input and output is a word of 64 bits, of which smaller values use
/// the low bits.
extern "C" void attune_emulate(attune::emulated::Operation *operation, const uint64_t *inputs, uint64_t *outputs);
/// Checks an access to |bytes| bytes at |data| that the running thread is about to make. |kind| is 0 for a load, 1 for
/// a store and 2 for an atomic operation. If the access is an error, ends the launch and does not return.
extern "C" void attune_emulate_access(const void *data, uint64_t bytes, uint32_t kind);

#endif // ATTUNE_TEST_EMULATOR_EMULATEDIMAGE_H
