//===- WeightsInput.h - Tensors of a model given as IR --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_DRIVER_WEIGHTSINPUT_H
#define ATTUNE_COMPILER_DRIVER_WEIGHTSINPUT_H

#include "compiler/Weights/TensorProvider.h"

namespace attune {

/// What --weights=FILE|DIR names: a folder, one safetensors file, or nothing ("") for a model of |model| that names no stored tensor.
Result<std::unique_ptr<TensorProvider>> openWeightsInput(const std::string &path, const std::string &model);

} // namespace attune

#endif // ATTUNE_COMPILER_DRIVER_WEIGHTSINPUT_H
