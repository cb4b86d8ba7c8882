//===- WeightsInput.h - Tensors of a model given as IR ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_DRIVER_WEIGHTSINPUT_H
#define ATTUNE_COMPILER_DRIVER_WEIGHTSINPUT_H

#include "compiler/Weights/TensorProvider.h"

namespace attune {

/// Opens |path|, the value of --weights=FILE|DIR: a folder, one safetensors file, or "". The provider for "" has no
/// tensors; it serves a model that refers to no stored tensor. |model| is the name of the model, which the messages of
/// that provider have in place of a file name.
Result<std::unique_ptr<TensorProvider>> openWeightsInput(const std::string &path, const std::string &model);

} // namespace attune

#endif // ATTUNE_COMPILER_DRIVER_WEIGHTSINPUT_H
