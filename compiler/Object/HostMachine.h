//===- HostMachine.h - The machine of the host code ------------*- C++ -*-===//
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

/// The CPU that host code runs on, and LLVM's view of it. Every target has one; kernels may run elsewhere.
class HostMachine {
public:
  /// |cpu| is `native`, a level (`x86-64-v3`) or one of LLVM's names, with features behind it ("generic-rv64,+m,+f,+d,-c"), or empty:
  /// `native`, or the least of an architecture that is not this machine's. |triple| is empty for this machine. Errors name what is unknown
  /// or what the CPU lacks.
  static Result<HostMachine> create(const std::string &cpu = "", const std::string &triple = "");

  llvm::TargetMachine &machine() const { return *targetMachine; }
  std::string triple() const { return targetMachine->getTargetTriple().str(); }
  /// LLVM's name, never `native`.
  std::string cpu() const { return targetMachine->getTargetCPU().str(); }
  /// Features switched on or off beside those of the CPU's name, as LLVM writes them ("+avx2,-avx512f").
  std::string features() const { return targetMachine->getTargetFeatureString().str(); }
  bool hasFeature(llvm::StringRef feature) const;
  /// Features the code may use and not every machine of this architecture has, comma separated; what the runtime checks.
  std::string requiredFeatures() const;
  /// Bits of the widest register for floats, 32 where there are no vectors, and how many of them there are.
  unsigned vectorBits() const;
  unsigned vectorRegisters() const;
  /// The features that schedules depend on, by LLVM's names, with "x86" for the family.
  llvm::StringSet<> scheduleFeatures() const;

private:
  const Architecture *architecture = nullptr;
  std::shared_ptr<llvm::TargetMachine> targetMachine;
};

/// Registers LLVM's code generators; what comes after the first call does nothing.
void initializeTargets();

} // namespace attune

#endif // ATTUNE_COMPILER_OBJECT_HOSTMACHINE_H
