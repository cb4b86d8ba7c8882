//===- Architectures.h - The machines that code can be made for -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_OBJECT_ARCHITECTURES_H
#define ATTUNE_COMPILER_OBJECT_ARCHITECTURES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/TargetParser/Triple.h"

namespace attune {

/// An instruction set that code cannot do without.
struct RequiredFeature {
  /// LLVM's name, and what people call it.
  const char *feature, *name;
};

/// What the compiler knows of one architecture. All names of features are LLVM's.
struct Architecture {
  llvm::Triple::ArchType arch;
  /// A CPU for which nothing but the baseline is used, with features switched on beside it: what a triple for another machine means by
  /// itself.
  const char *baselineCpu, *baselineFeatures;
  /// How to name the least CPU, for messages.
  const char *least;
  llvm::ArrayRef<RequiredFeature> required;
  /// What code may contain beyond the baseline; the runtime knows all of them.
  llvm::ArrayRef<const char *> features;
  /// Extensions the code generator would use but no operating system or runtime of ours is prepared for. A name that ends in '*' is a
  /// prefix.
  llvm::ArrayRef<const char *> withheld;
  /// The calling convention, or "" for the only one.
  const char *abi;
};

/// The architecture of |triple|, or null if there is no code for it.
const Architecture *findArchitecture(const llvm::Triple &triple);

} // namespace attune

#endif // ATTUNE_COMPILER_OBJECT_ARCHITECTURES_H
