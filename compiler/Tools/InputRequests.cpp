//===- InputRequests.cpp - Inputs that a compilation is asked for ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Tools/InputRequests.h"
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
