//===- WeightsStore.h - Packed weights of several objects -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_DRIVER_WEIGHTSSTORE_H
#define ATTUNE_COMPILER_DRIVER_WEIGHTSSTORE_H

#include "compiler/Weights/Packer.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace attune {

/// A store of packed weights apart from code, so that compilations of the same tensors in the same layout pack and
/// store them once.
class WeightsStore {
public:
  virtual ~WeightsStore() = default;

  /// Places a file with the weights of |layout| (see describePackedWeights) beside the object that is being compiled.
  /// Calls |pack| for a new file if no such file is stored. |pack| leaves room for the header, which provide writes
  /// with kSharedBuildId: an object recognizes a shared file by the checksum of the manifest.
  virtual Result<PackingResult> provide(const std::string &layout, llvm::function_ref<Result<PackingResult>(OutputFile &)> pack) = 0;
};

} // namespace attune

#endif // ATTUNE_COMPILER_DRIVER_WEIGHTSSTORE_H
