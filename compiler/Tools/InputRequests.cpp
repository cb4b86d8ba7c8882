//===- InputRequests.cpp - Inputs that a compilation is asked for ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Tools/InputRequests.h"
#include "compiler/Import/ModelFolder.h"
#include "llvm/ADT/StringRef.h"

using namespace attune;

InputRequest attune::requestInput(const TensorSpec &tensor) {
  InputRequest request{tensor.name, static_cast<int64_t>(tensor.shape.size()), isFloat(tensor.dtype) ? DType::F32 : DType::I64, {}};
  size_t rank = tensor.shape.size();
  if (rank == 4 || (rank == 3 && llvm::StringRef(tensor.name).ends_with("mask")))
    for (size_t i = 0; i < rank; ++i)
      request.sizes.push_back(i + 1 < rank && tensor.shape[i] == 1 ? 1 : InputRequest::anySize);
  return request;
}

void attune::requestInputs(CompileOptions &options, const std::vector<TensorSpec> &inputs, const std::vector<std::string> &names) {
  if (!options.inputs.empty() || !isModelSource(options.model))
    return;
  for (const TensorSpec &input : inputs)
    options.inputs.push_back(requestInput(input));
  for (const std::string &name : names)
    options.inputs.push_back({name, {}, {}, {}});
}
