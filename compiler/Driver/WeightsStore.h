//===- WeightsStore.h - Packed weights of several objects -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_DRIVER_WEIGHTSSTORE_H
#define ATTUNE_COMPILER_DRIVER_WEIGHTSSTORE_H

#include "compiler/Weights/Packer.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace attune {

/// A store of weights files that several objects can share: compilations of the same tensors in the same layout pack
/// and store them once.
class WeightsStore {
public:
  virtual ~WeightsStore() = default;

  /// Places a weights file with the tensors that |layout| lists, at the offsets in |layout|, beside the object that is
  /// being compiled. |layout| is the result of describePackedWeights. If the store has no such file, calls |pack| to
  /// write a new one; |pack| leaves room for the header, which this function writes with the build id kSharedBuildId.
  /// An object recognizes a file with this build id by the checksum of its manifest. Returns the packing result of the
  /// file. Fails if |pack| fails or the file cannot be written.
  virtual Result<PackingResult> provide(const std::string &layout, llvm::function_ref<Result<PackingResult>(OutputFile &)> pack) = 0;
};

} // namespace attune

#endif // ATTUNE_COMPILER_DRIVER_WEIGHTSSTORE_H
