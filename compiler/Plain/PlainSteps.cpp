//===- PlainSteps.cpp - Calls in one piece or in steps --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Plain/PlainSteps.h"
#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace attune;

static const PlainArgument *findInput(const PlainEntry &entry, const std::string &name) {
  for (const PlainArgument &argument : entry.arguments)
    if (argument.kind == PlainArgument::Kind::Input && argument.name == name)
      return &argument;
  return nullptr;
}

/// Returns the index of the dimension `length` of |argument|, the number of tokens of a chunk; nullopt if there is
/// none.
static std::optional<size_t> findLength(const PlainArgument &argument) {
  for (auto [index, dim] : llvm::enumerate(argument.dims))
    if (const auto *name = std::get_if<std::string>(&dim); name && *name == "length")
      return index;
  return std::nullopt;
}

/// Returns the part of |tensor| with the indices |begin| to |end| - 1 in dimension |axis|.
static OwnedTensor sliceTensor(const OwnedTensor &tensor, size_t axis, int64_t begin, int64_t end) {
  OwnedTensor part{tensor.spec, {}};
  const std::vector<int64_t> &shape = tensor.spec.shape;
  part.spec.shape[axis] = end - begin;
  auto product = [&](size_t first, size_t last) {
    return std::accumulate(shape.begin() + ptrdiff_t(first), shape.begin() + ptrdiff_t(last), int64_t(1), std::multiplies<>());
  };
  int64_t outer = product(0, axis), inner = product(axis + 1, shape.size()) * int64_t(elementSize(tensor.spec.dtype));
  for (int64_t row = 0; row < outer; ++row) {
    auto first = tensor.data.begin() + (row * shape[axis] + begin) * inner;
    part.data.insert(part.data.end(), first, first + (end - begin) * inner);
  }
  return part;
}

/// Concatenates |parts|, of which there is at least one, along dimension |axis|.
static OwnedTensor joinTensors(const std::vector<OwnedTensor> &parts, size_t axis) {
  OwnedTensor joined{parts[0].spec, {}};
  joined.spec.shape[axis] = 0;
  for (const OwnedTensor &part : parts)
    joined.spec.shape[axis] += part.spec.shape[axis];
  int64_t outer = 1;
  for (size_t dim = 0; dim < axis; ++dim)
    outer *= joined.spec.shape[dim];
  for (int64_t row = 0; row < outer; ++row)
    for (const OwnedTensor &part : parts) {
      auto bytes = int64_t(part.data.size()) / std::max<int64_t>(outer, 1);
      joined.data.insert(joined.data.end(), part.data.begin() + row * bytes, part.data.begin() + (row + 1) * bytes);
    }
  return joined;
}

static Result<std::vector<OwnedTensor>> runInSteps(PlainModel &model, const PlainInputs &inputs) {
  Result<const PlainEntry *> extend = model.signature().entry("extend");
  if (!extend)
    return Status::error("steps need an entry that appends to caches: " + extend.message());
  Result<const PlainEntry *> encode = model.signature().entry("encode");
  PlainCaches caches;
  PlainRequest sources, chunk;
  std::vector<OwnedTensor> columns;
  int64_t length = 0;
  for (const OwnedTensor &tensor : inputs.tensors) {
    const PlainArgument *ofEncoder = encode ? findInput(**encode, tensor.spec.name) : nullptr;
    const PlainArgument *ofChunk = findInput(**extend, tensor.spec.name);
    if (!ofEncoder && !ofChunk)
      return Status::error("input '" + tensor.spec.name + "': entry 'extend' has no such input");
    if (ofEncoder) {
      sources.inputs.push_back(tensor);
      if (tensor.spec.shape.size() > 1)
        chunk.source = std::max(chunk.source, tensor.spec.shape[1]);
    }
    if (!ofChunk)
      continue;
    columns.push_back(tensor);
    std::optional<size_t> axis = findLength(*ofChunk);
    if (axis && *axis < tensor.spec.shape.size())
      length = std::max(length, tensor.spec.shape[*axis]);
  }
  if (std::optional<int64_t> total = sumSizes(inputs.steps); total != length)
    return Status::error("steps: expected sizes that add up to " + std::to_string(length) + " tokens, got " +
                         (total ? std::to_string(*total) : "more than 2^63"));
  if (encode) {
    sources.entry = "encode";
    sources.source = chunk.source;
    Result<std::vector<OwnedTensor>> encoded = model.run(sources, &caches);
    if (!encoded)
      return encoded.status();
  }
  chunk.entry = "extend";
  chunk.capacity = length;
  std::vector<std::vector<OwnedTensor>> pieces;
  for (int64_t size : inputs.steps) {
    chunk.inputs.clear();
    for (const OwnedTensor &tensor : columns) {
      std::optional<size_t> axis = findLength(*findInput(**extend, tensor.spec.name));
      bool sliced = axis && *axis < tensor.spec.shape.size() && tensor.spec.shape[*axis] == length;
      chunk.inputs.push_back(sliced ? sliceTensor(tensor, *axis, chunk.past, chunk.past + size) : tensor);
    }
    Result<std::vector<OwnedTensor>> outputs = model.run(chunk, &caches);
    if (!outputs)
      return outputs.status();
    pieces.push_back(std::move(*outputs));
    chunk.past += size;
  }
  std::vector<OwnedTensor> joined;
  for (auto [index, first] : llvm::enumerate(pieces[0])) {
    std::vector<OwnedTensor> parts;
    for (std::vector<OwnedTensor> &piece : pieces)
      parts.push_back(std::move(piece[index]));
    // Outputs have the batch as the first dimension and the tokens as the second. An output with one dimension is
    // joined along that.
    joined.push_back(joinTensors(parts, parts[0].spec.shape.size() > 1 ? 1 : 0));
  }
  return joined;
}

Result<std::vector<OwnedTensor>> attune::runPlainly(PlainModel &model, const PlainInputs &inputs) {
  if (!inputs.steps.empty())
    return runInSteps(model, inputs);
  PlainRequest request;
  request.inputs = inputs.tensors;
  return model.run(request);
}
