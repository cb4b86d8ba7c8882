//===- CallTensors.cpp - Conversion of files' tensors for calls -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Support/Strings.h"
#include "compiler/Tools/EntryCall.h"

#include <algorithm>
#include <cstring>

using namespace attune;

bool attune::isWanted(const std::vector<std::string> &wanted, const std::string &name) {
  return std::any_of(wanted.begin(), wanted.end(), [&](const std::string &one) { return one == name || startsWith(name, one + "."); });
}

TensorView attune::viewOf(const OwnedTensor &tensor) {
  TensorView view;
  view.name = tensor.spec.name;
  view.dtype = tensor.spec.dtype;
  view.shape = tensor.spec.shape;
  view.data = tensor.data.data();
  view.bytes = tensor.data.size();
  view.elements = static_cast<int64_t>(tensor.data.size() / elementSize(view.dtype));
  return view;
}

/// Returns the type in safetensors files for the runtime's |dtype|.
static DType fileType(uint32_t dtype) {
  switch (dtype) {
  case ATTUNE_I64:
    return DType::I64;
  case ATTUNE_BF16:
    return DType::BF16;
  case ATTUNE_F16:
    return DType::F16;
  case ATTUNE_I8:
    return DType::I8;
  default:
    return DType::F32;
  }
}

/// Returns the runtime's type for |dtype| of a safetensors file.
static attune_dtype runtimeType(DType dtype) {
  switch (dtype) {
  case DType::I64:
    return ATTUNE_I64;
  case DType::BF16:
    return ATTUNE_BF16;
  case DType::F16:
    return ATTUNE_F16;
  case DType::I8:
    return ATTUNE_I8;
  default:
    return ATTUNE_F32;
  }
}

attune_tensor attune::toRuntime(OwnedTensor &tensor) {
  attune_tensor result = {};
  result.name = tensor.spec.name.c_str();
  result.dtype = runtimeType(tensor.spec.dtype);
  result.rank = static_cast<uint32_t>(tensor.spec.shape.size());
  result.shape = tensor.spec.shape.data();
  result.data = tensor.data.data();
  result.bytes = tensor.data.size();
  return result;
}

Status attune::runtimeError(const Artifact &artifact) { return Status::error(artifact.label() + ": " + attune_last_error()); }

Status attune::checkIntegers(const attune_tensor_desc &desc, DType dtype) {
  bool isMask = desc.max_value == 2 || desc.fill == ATTUNE_FILL_ONES || desc.fill == ATTUNE_FILL_TOKENS;
  if (dtype != DType::BOOL || isMask)
    return {};
  return Status::error("input '" + std::string(desc.name) + "': expected integers, got BOOL, which only masks take");
}

Result<OwnedTensor> attune::convertInput(const Artifact &artifact, const attune_entry_desc &entry, const TensorView &input) {
  const attune_tensor_desc *desc = nullptr;
  std::string known;
  for (uint32_t i = 0; i < entry.num_inputs; ++i) {
    known += (i ? ", " : "") + std::string(entry.inputs[i].name);
    if (input.name == entry.inputs[i].name)
      desc = &entry.inputs[i];
  }
  if (!desc)
    return Status::error(artifact.label() + ": input '" + input.name + "': entry '" + entry.name + "' has no such input; it has: " + known);

  OwnedTensor tensor{{input.name, fileType(desc->dtype), input.shape}, {}};
  tensor.data.resize(static_cast<size_t>(input.elements) * elementSize(tensor.spec.dtype));
  if (input.dtype == tensor.spec.dtype) {
    if (input.elements != 0)
      std::memcpy(tensor.data.data(), input.data, tensor.data.size());
  } else if (tensor.spec.dtype == DType::F32 && isFloat(input.dtype)) {
    convertToF32(input, 0, input.elements, reinterpret_cast<float *>(tensor.data.data()));
  } else if (tensor.spec.dtype == DType::I64 && isInteger(input.dtype)) {
    if (Status status = checkIntegers(*desc, input.dtype); status.failed())
      return Status::error(artifact.label() + ": " + status.message());
    convertToI64(input, 0, input.elements, reinterpret_cast<int64_t *>(tensor.data.data()));
  } else {
    return Status::error(artifact.label() + ": input '" + input.name + "': expected " + dtypeName(tensor.spec.dtype) + ", got " +
                         dtypeName(input.dtype));
  }
  return tensor;
}

/// Returns the number of rows of |input| if it has several dimensions in |entry| and the first is the batch, else 0.
static int64_t rowsOf(const attune_entry_desc &entry, const OwnedTensor &input) {
  for (uint32_t i = 0; i < entry.num_inputs; ++i) {
    const attune_tensor_desc &desc = entry.inputs[i];
    if (input.spec.name == desc.name && desc.rank > 1 && desc.shape[0] < 0 &&
        std::strcmp(entry.dims[-desc.shape[0] - 1].name, "batch") == 0)
      return input.spec.shape.empty() ? 0 : input.spec.shape[0];
  }
  return 0;
}

void attune::repeatRows(const attune_entry_desc &entry, std::vector<OwnedTensor> &inputs) {
  int64_t batch = 0;
  for (const OwnedTensor &input : inputs)
    batch = std::max(batch, rowsOf(entry, input));
  auto isTokens = [](const std::string &name) { return endsWith(name, "input_ids"); };
  for (OwnedTensor &input : inputs) {
    if (input.spec.dtype != DType::I64 || isTokens(input.spec.name) || rowsOf(entry, input) != 1)
      continue;
    const std::vector<uint8_t> row = input.data;
    for (int64_t i = 1; i < batch; ++i)
      input.data.insert(input.data.end(), row.begin(), row.end());
    input.spec.shape[0] = batch;
  }
}

Result<OwnedTensor> attune::makeOutput(const Artifact &artifact, const attune_entry_desc &entry, uint32_t output,
                                       const std::vector<int64_t> &dims) {
  const attune_tensor_desc &desc = entry.outputs[output];
  OwnedTensor tensor{{desc.name, fileType(desc.dtype), std::vector<int64_t>(desc.rank)}, {}};
  size_t bytes = 0;
  if (attune_output_shape(artifact.model(), entry.name, output, dims.data(), tensor.spec.shape.data(), &bytes) != ATTUNE_OK)
    return runtimeError(artifact);
  tensor.data.resize(bytes);
  return tensor;
}
