//===- TensorSources.h - Stored and generated tensors -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_WEIGHTS_TENSORSOURCES_H
#define ATTUNE_COMPILER_WEIGHTS_TENSORSOURCES_H

#include "compiler/Weights/TensorProvider.h"

namespace attune {

/// Returns a provider of the weights stored in a model folder (`model.safetensors` or shards). Every error names the
/// file.
Result<std::unique_ptr<TensorProvider>> openTensors(const std::string &folder);

/// Returns a provider of the tensors |specs|. Each read computes the values by generateValues from |seed|. |file| is
/// the file name in messages.
std::unique_ptr<TensorProvider> generateTensors(std::vector<TensorSpec> specs, int64_t seed, std::string file);

} // namespace attune

#endif // ATTUNE_COMPILER_WEIGHTS_TENSORSOURCES_H
