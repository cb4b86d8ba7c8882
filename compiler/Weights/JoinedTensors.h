//===- JoinedTensors.h - Tensors of several folders -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_WEIGHTS_JOINEDTENSORS_H
#define ATTUNE_COMPILER_WEIGHTS_JOINEDTENSORS_H

#include "compiler/Weights/TensorProvider.h"

namespace attune {

/// Tensors whose names get a prefix.
struct TensorPart {
  std::string prefix;
  std::unique_ptr<TensorProvider> tensors;
};

/// Returns the tensors of |parts| under their names behind the prefix of each, and those of |base| for all other names.
std::unique_ptr<TensorProvider> joinTensors(std::unique_ptr<TensorProvider> base, std::vector<TensorPart> parts);

} // namespace attune

#endif // ATTUNE_COMPILER_WEIGHTS_JOINEDTENSORS_H
