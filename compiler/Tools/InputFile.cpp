//===- InputFile.cpp - Inputs of a call in a file -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Tools/InputFile.h"
#include "compiler/Support/InputFiles.h"

using namespace attune;

Result<InputFile> InputFile::open(const std::string &path) {
  InputFile inputs;
  if (path.empty())
    return std::move(inputs);
  if (Status status = declareInput(path); status.failed())
    return status;
  Result<SafetensorsFile> opened = SafetensorsFile::open(path);
  if (!opened)
    return opened.status();
  inputs.file.emplace(std::move(*opened));
  for (const auto &[name, tensor] : inputs.file->tensors())
    inputs.views.push_back(tensor);
  return std::move(inputs);
}

std::vector<TensorSpec> InputFile::specs() const {
  std::vector<TensorSpec> specs;
  for (const TensorView &tensor : views)
    specs.push_back({tensor.name, tensor.dtype, tensor.shape});
  return specs;
}
