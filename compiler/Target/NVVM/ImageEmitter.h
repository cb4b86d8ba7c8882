//===- ImageEmitter.h - Device images other than PTX -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_IMAGEEMITTER_H
#define ATTUNE_COMPILER_TARGET_NVVM_IMAGEEMITTER_H

#include "compiler/Object/HostMachine.h"
#include "compiler/Support/Status.h"
#include "dialect/Rt/IR/Schedule.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/Module.h"

namespace attune {

struct GpuSchedule;

/// A maker of images (device code) for a GPU that NVIDIA's tools do not know, such as an emulator. Its images take the
/// place of PTX and of the cubins that ptxas makes of PTX.
struct ImageEmitter {
  /// The name, as in `--gpu`.
  std::string name;
  /// The compute capability of the image, times 10, and whether its code may be architecture-specific (sm_90a).
  uint32_t number;
  bool isSpecific;
  /// Returns the image of |module|, unoptimized LLVM IR for NVPTX, or an error. |host| is the machine that the host
  /// code of the same object is for.
  Result<std::string> (*emit)(std::unique_ptr<llvm::Module> module, const HostMachine &host);
  /// Changes the schedule of a model that has an image of this emitter. The model's other images share that schedule.
  void (*adjust)(mlir::rt::Schedule &schedule, GpuSchedule &own);
};

/// Registers |emitter|; does nothing if an emitter with the same name is registered.
void registerImageEmitter(ImageEmitter emitter);
/// Returns all registered emitters; their addresses stay valid.
std::vector<const ImageEmitter *> getImageEmitters();

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_IMAGEEMITTER_H
