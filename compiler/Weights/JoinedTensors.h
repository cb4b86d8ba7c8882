//===- JoinedTensors.h - Tensors of several folders -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_WEIGHTS_JOINEDTENSORS_H
#define ATTUNE_COMPILER_WEIGHTS_JOINEDTENSORS_H

#include "compiler/Weights/TensorProvider.h"

namespace attune {

/// The tensors of a provider, and the prefix that joinTensors puts before their names.
struct TensorPart {
  std::string prefix;
  std::unique_ptr<TensorProvider> tensors;
};

/// Returns a provider of the tensors of |parts|, each under the part's prefix followed by its name, and of the tensors
/// of |base|, under their own names. The caller guarantees that no name of another part, with its prefix, and no name
/// of |base| begins with the prefix of a part.
std::unique_ptr<TensorProvider> joinTensors(std::unique_ptr<TensorProvider> base, std::vector<TensorPart> parts);

} // namespace attune

#endif // ATTUNE_COMPILER_WEIGHTS_JOINEDTENSORS_H
