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

/// A GPU that code is made for.
struct GpuArchitecture {
  /// The compute capability times 10: 80, 90.
  uint32_t number = 80;
  /// Whether code may use features that later ones do not have: sm_90a.
  bool isSpecific = false;
  /// The maker of its images; null for PTX and NVIDIA's assembler.
  const ImageEmitter *emitter = nullptr;

  /// Whether it has what only sm_90a has.
  bool hasWarpgroups() const { return isSpecific; }
  /// "sm_90a", or the name of the emitter.
  std::string name() const;
  bool operator==(const GpuArchitecture &other) const { return number == other.number && isSpecific == other.isSpecific; }
};

/// Parses "sm_80,sm_90a". Errors name the one that is unknown.
Result<std::vector<GpuArchitecture>> parseGpuList(const std::string &text);
/// Returns the GPUs that no `--gpu` stands for.
inline std::vector<GpuArchitecture> getDefaultGpus() { return {{80, false}, {90, true}}; }
/// Returns "sm_80,sm_90a".
std::string formatGpuList(const std::vector<GpuArchitecture> &list);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_GPUARCHITECTURE_H
