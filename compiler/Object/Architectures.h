//===- Architectures.h - CPU architectures of host code ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_OBJECT_ARCHITECTURES_H
#define ATTUNE_COMPILER_OBJECT_ARCHITECTURES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/TargetParser/Triple.h"

namespace attune {

/// An instruction set extension that the code needs.
struct RequiredFeature {
  /// LLVM's name of the feature, and the usual name, for messages.
  const char *feature, *name;
};

/// The description of one architecture. All names of features are LLVM's.
struct Architecture {
  llvm::Triple::ArchType arch;
  /// The CPU that code is compiled for if `--cpu` is not given and the compiler runs on a machine of another
  /// architecture, and the features that the code uses beside those of the CPU's name ("+m,+a"; "" for none).
  const char *baselineCpu, *baselineFeatures;
  /// The value of `--cpu` that error messages propose: a CPU with few features beyond the required ones.
  const char *least;
  llvm::ArrayRef<RequiredFeature> required;
  /// The features that an object requires at run time if the CPU for which the object is compiled has them. The runtime
  /// checks them when it opens a model. A target may add other features (TargetEmission::hostFeatures).
  llvm::ArrayRef<const char *> features;
  /// The features that code never uses, even if the CPU has them. A name that ends in '*' is a prefix.
  llvm::ArrayRef<const char *> withheld;
  /// LLVM's name of the ABI (MCTargetOptions::ABIName); "" for the default.
  const char *abi;
};

/// Returns the architecture of |triple|, or null if the compiler has no code for it.
const Architecture *findArchitecture(const llvm::Triple &triple);

} // namespace attune

#endif // ATTUNE_COMPILER_OBJECT_ARCHITECTURES_H
