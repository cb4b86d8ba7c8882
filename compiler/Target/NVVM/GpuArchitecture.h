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

/// A compute capability.
struct GpuArchitecture {
  /// Times 10: 80, 90.
  uint32_t number = 80;
  /// Whether code may use what later ones do not have: sm_90a.
  bool isSpecific = false;
  /// No GPU: code for this machine, which test/FakeCuda runs; if specific, that for sm_90a.
  bool isEmulator = false;

  /// Whether it has what only sm_90a has.
  bool hasWarpgroups() const { return isSpecific; }
  /// "sm_90a", "emulator".
  std::string name() const {
    return isEmulator ? isSpecific ? "emulator_90a" : "emulator" : "sm_" + std::to_string(number) + (isSpecific ? "a" : "");
  }
  bool operator==(const GpuArchitecture &other) const { return number == other.number && isSpecific == other.isSpecific; }
};

/// Reads "sm_80,sm_90a" or "emulator". Errors name the one that is unknown.
Result<std::vector<GpuArchitecture>> parseGpuList(const std::string &text);
/// What `--gpu` stands for if it is not given.
inline std::vector<GpuArchitecture> getDefaultGpus() { return {{80, false}, {90, true}}; }
/// "sm_80,sm_90a".
std::string formatGpuList(const std::vector<GpuArchitecture> &list);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_GPUARCHITECTURE_H
