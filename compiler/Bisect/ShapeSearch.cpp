//===- ShapeSearch.cpp - Inputs of other shapes ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Bisect/ShapeSearch.h"
#include "compiler/Plain/PlainBinding.h"
#include "llvm/ADT/STLExtras.h"

#include <random>

using namespace attune;

std::vector<CallShape> attune::listShapes() {
  return {{1, 1}, {1, 2}, {1, 3}, {1, 5}, {1, 7}, {2, 4}, {1, 8}, {1, 12},
          {3, 13}, {1, 17}, {1, 25}, {2, 33}, {1, 65}, {3, 48}, {1, 129}, {1, 513}};
}

/// Returns element |i| of |argument| for a call of |shape|.
static double makeValue(const PlainArgument &argument, CallShape shape, int64_t i, std::mt19937 &random) {
  if (!argument.elementType.isInteger(64))
    return static_cast<double>(random() % 2001) / 1000.0 - 1.0;
  bool isMask = argument.maxValue == 2 && llvm::StringRef(argument.name).contains("mask");
  if (!isMask)
    return static_cast<double>(random() % static_cast<uint32_t>(argument.maxValue > 0 ? argument.maxValue : 100));
  // Row b sees all tokens but the last b.
  int64_t row = i / shape.length, column = i % shape.length;
  return column + row < shape.length || column == 0;
}

Result<PlainInputs> attune::makeInputs(const PlainSignature &signature, CallShape shape) {
  Result<const PlainEntry *> entry = signature.entry("forward");
  if (!entry)
    return entry.status();
  PlainInputs inputs;
  std::mt19937 random(static_cast<uint32_t>(shape.batch * 1000 + shape.length));
  for (const PlainArgument &argument : (*entry)->arguments) {
    if (argument.kind != PlainArgument::Kind::Input)
      continue;
    bool isMask = argument.maxValue == 2 && llvm::StringRef(argument.name).contains("mask") && argument.dims.size() == 2;
    if (argument.fill != mlir::xfmr::InputDefault::Required && !isMask)
      continue;
    OwnedTensor tensor{{argument.name, getPlainDType(argument.elementType, false), {}}, {}};
    for (const auto &dim : argument.dims) {
      const auto *name = std::get_if<std::string>(&dim);
      if (name && *name != "batch" && *name != "length" && *name != "source_length")
        return Status::error("input '" + argument.name + "': give inputs, its dim '" + *name + "' is not known");
      tensor.spec.shape.push_back(!name ? std::get<int64_t>(dim) : *name == "batch" ? shape.batch : shape.length);
    }
    int64_t count = *elementCount(tensor.spec.shape);
    tensor.data.resize(static_cast<size_t>(count) * elementSize(tensor.spec.dtype));
    for (int64_t i = 0; i < count; ++i) {
      double value = makeValue(argument, shape, i, random);
      if (tensor.spec.dtype == DType::F32)
        reinterpret_cast<float *>(tensor.data.data())[i] = static_cast<float>(value);
      else
        reinterpret_cast<int64_t *>(tensor.data.data())[i] = static_cast<int64_t>(value);
    }
    inputs.tensors.push_back(std::move(tensor));
  }
  return inputs;
}
