//===- BisectInputs.cpp - Inputs of many shapes ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Tools/BisectInputs.h"

#include <cstring>

using namespace attune;

std::vector<BatchShape> attune::listBatchShapes() {
  return {{2, 5}, {2, 9, {5, 1, 3}}, {1, 1}, {3, 17}, {1, 16}, {1, 33}, {2, 65}, {4, 8}, {1, 68, {63, 2, 3}}};
}

/// Returns the size of dimension |name| in a batch of |shape|; nullopt for an unknown name. The length of an encoder
/// differs from that of a decoder, so that code that confuses them gives wrong numbers.
static std::optional<int64_t> sizeOf(const std::string &name, const BatchShape &shape) {
  if (name == "batch")
    return shape.batch;
  if (name == "length")
    return shape.length;
  if (name == "source_length")
    return shape.length + 2;
  return std::nullopt;
}

/// Returns the inputs that |entry| requires and, if it gets all tokens at once, its attention mask.
static std::vector<const PlainArgument *> listBatchInputs(const PlainEntry &entry) {
  std::vector<const PlainArgument *> found;
  for (const PlainArgument &argument : entry.arguments) {
    bool isMask = argument.name == "attention_mask" && entry.name != "extend";
    if (argument.kind == PlainArgument::Kind::Input && (isMask || argument.fill == mlir::xfmr::InputDefault::Required))
      found.push_back(&argument);
  }
  return found;
}

Result<PlainInputs> attune::makeBatch(const PlainSignature &signature, const BatchShape &shape) {
  std::vector<const PlainArgument *> arguments;
  for (const PlainEntry &entry : signature.entries)
    if (shape.steps.empty() ? entry.name == "forward" : entry.name == "encode" || entry.name == "extend")
      for (const PlainArgument *argument : listBatchInputs(entry))
        if (llvm::none_of(arguments, [&](const PlainArgument *known) { return known->name == argument->name; }))
          arguments.push_back(argument);
  PlainInputs inputs;
  inputs.steps = shape.steps;
  uint64_t state = 0x9e3779b97f4a7c15;
  auto random = [&] { // xorshift64
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state >> 11;
  };
  for (const PlainArgument *input : arguments) {
    const PlainArgument &argument = *input;
    bool isMask = argument.name == "attention_mask", isFloat = mlir::isa<mlir::FloatType>(argument.elementType);
    OwnedTensor tensor{{argument.name, isFloat ? DType::F32 : DType::I64, {}}, {}};
    int64_t count = 1;
    for (const auto &dim : argument.dims) {
      const auto *name = std::get_if<std::string>(&dim);
      std::optional<int64_t> size = name ? sizeOf(*name, shape) : std::get<int64_t>(dim);
      if (!size)
        return Status::error("input '" + argument.name + "': the size of '" + *name + "' is not known, expected --input=FILE");
      tensor.spec.shape.push_back(*size);
      count *= *size;
    }
    int64_t columns = tensor.spec.shape.empty() ? 1 : tensor.spec.shape.back();
    for (int64_t i = 0; i < count; ++i) {
      uint8_t bytes[8];
      float real = isMask ? 1.0f : float(random() % 2001) / 1000 - 1;
      bool isHidden = isMask && i / columns % 2 == 1 && i % columns >= columns - columns / 3;
      int64_t id = isMask ? !isHidden : argument.maxValue > 0 ? int64_t(random() % uint64_t(argument.maxValue)) : 0;
      isFloat ? std::memcpy(bytes, &real, sizeof(real)) : std::memcpy(bytes, &id, sizeof(id));
      tensor.data.insert(tensor.data.end(), bytes, bytes + (isFloat ? sizeof(real) : sizeof(id)));
    }
    inputs.tensors.push_back(std::move(tensor));
  }
  return inputs;
}
