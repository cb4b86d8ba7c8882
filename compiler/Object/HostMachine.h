//===- HostMachine.h - The machine of the host code -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_OBJECT_HOSTMACHINE_H
#define ATTUNE_COMPILER_OBJECT_HOSTMACHINE_H

#include "compiler/Object/Architectures.h"
#include "compiler/Support/Status.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>

namespace attune {

/// The CPU that runs the host code, with LLVM's target machine for it. Kernels run on the same CPU or on a GPU.
class HostMachine {
public:
  /// Creates the machine for |cpu| and |triple|. |cpu| is a name and perhaps features ("generic-rv64,+m,+f,+d,-c"). The
  /// name is `native`, a level (`x86-64-v3`), another of LLVM's names, or empty: `native` if |triple| has this machine's
  /// architecture, else the architecture's baseline. An empty |triple| means this machine's. Fails if the triple is
  /// unknown or not one of Architectures.h, if the CPU or a feature is unknown, if the name is `native` but |triple| has
  /// another architecture, or if the CPU lacks a required feature; the error names the wrong word or the missing
  /// feature.
  static Result<HostMachine> create(const std::string &cpu = "", const std::string &triple = "");

  llvm::TargetMachine &machine() const { return *targetMachine; }
  std::string triple() const { return targetMachine->getTargetTriple().str(); }
  /// Returns LLVM's name of the CPU, never `native`.
  std::string cpu() const { return targetMachine->getTargetCPU().str(); }
  /// Returns the features that are switched on or off beside the features that the CPU's name implies, as LLVM writes
  /// them ("+avx2,-avx512f").
  std::string features() const { return targetMachine->getTargetFeatureString().str(); }
  bool hasFeature(llvm::StringRef feature) const;
  /// Returns the features in Architecture::features that the CPU has, separated by commas. The runtime checks them when
  /// it opens a model.
  std::string requiredFeatures() const;
  /// Returns the width in bits of the registers in which kernels keep floats: at most 512 for vector registers, 32 for
  /// scalar registers. vectorRegisters() returns the number of these registers.
  unsigned vectorBits() const;
  unsigned vectorRegisters() const;
  /// Returns "x86" and LLVM's names of those features of an x86 CPU on which schedules depend; an empty set for other
  /// CPUs.
  llvm::StringSet<> scheduleFeatures() const;

private:
  const Architecture *architecture = nullptr;
  std::shared_ptr<llvm::TargetMachine> targetMachine;
};

/// Registers LLVM's code generators; calls after the first do nothing.
void initializeTargets();

} // namespace attune

#endif // ATTUNE_COMPILER_OBJECT_HOSTMACHINE_H
