//===- ImageEmitter.h - Other makers of device images ----------*- C++ -*-===//
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

/// Makes the images of a GPU that NVIDIA's tools do not know, such as an emulator, instead of PTX and ptxas.
struct ImageEmitter {
  /// The name, as in `--gpu`.
  std::string name;
  /// The compute capability of the image, times 10, and whether its code may be architecture-specific (sm_90a).
  uint32_t number;
  bool isSpecific;
  /// Returns the image of |module|, LLVM IR for NVPTX that is not optimized yet. |host| is the machine of the host
  /// code.
  Result<std::string> (*emit)(std::unique_ptr<llvm::Module> module, const HostMachine &host);
  /// Changes the schedule of a model with an image of this emitter; all images of a model share one schedule.
  void (*adjust)(mlir::rt::Schedule &schedule, GpuSchedule &own);
};

/// Registers |emitter|, unless one of that name is registered.
void registerImageEmitter(ImageEmitter emitter);
/// Returns all registered emitters; their addresses stay valid.
std::vector<const ImageEmitter *> getImageEmitters();

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_IMAGEEMITTER_H
