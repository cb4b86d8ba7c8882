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
  /// LLVM's name, and the usual one for messages.
  const char *feature, *name;
};

/// The description of one architecture. All names of features are LLVM's.
struct Architecture {
  llvm::Triple::ArchType arch;
  /// The CPU and the additional features if the triple is that of another machine and no CPU is given: code then uses
  /// the baseline only.
  const char *baselineCpu, *baselineFeatures;
  /// The name of the least CPU, for messages.
  const char *least;
  llvm::ArrayRef<RequiredFeature> required;
  /// The features that code may use beyond the baseline; the runtime can check all of them.
  llvm::ArrayRef<const char *> features;
  /// The features that code never uses, since our runtime and operating systems do not support them. A name that ends
  /// in '*' is a prefix.
  llvm::ArrayRef<const char *> withheld;
  /// The name of the calling convention; "" if the architecture has only one.
  const char *abi;
};

/// Returns the architecture of |triple|, or null if the compiler has no code for it.
const Architecture *findArchitecture(const llvm::Triple &triple);

} // namespace attune

#endif // ATTUNE_COMPILER_OBJECT_ARCHITECTURES_H
