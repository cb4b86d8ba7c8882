//===- GpuArchitecture.h - GPUs that code is made for ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_GPUARCHITECTURE_H
#define ATTUNE_COMPILER_TARGET_NVVM_GPUARCHITECTURE_H

#include "compiler/Support/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace attune {

struct ImageEmitter;

/// A GPU to compile for.
struct GpuArchitecture {
  /// The compute capability times 10: 80, 90.
  uint32_t number = 80;
  /// True if code may be architecture-specific, that is use features that later GPUs do not have: sm_90a.
  bool isSpecific = false;
  /// The emitter of the GPU's images; null if they are PTX and cubins that NVIDIA's assembler makes of the PTX.
  const ImageEmitter *emitter = nullptr;

  /// Returns true if code may use the features that only sm_90a has, such as wgmma.
  bool hasWarpgroups() const { return isSpecific; }
  /// Returns a name such as "sm_80" or "sm_90a", or the name of the emitter.
  std::string name() const;
  bool operator==(const GpuArchitecture &other) const {
    return number == other.number && isSpecific == other.isSpecific && emitter == other.emitter;
  }
};

/// Parses a list such as "sm_80,sm_90a"; skips repeated names. Returns an error, which lists the supported names, if a
/// name is unknown or empty.
Result<std::vector<GpuArchitecture>> parseGpuList(const std::string &text);
/// Returns the GPUs of a compilation without `--gpu`.
inline std::vector<GpuArchitecture> getDefaultGpus() { return {{80, false}, {90, true}}; }
/// Returns |list| as text, such as "sm_80,sm_90a".
std::string formatGpuList(const std::vector<GpuArchitecture> &list);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_GPUARCHITECTURE_H
