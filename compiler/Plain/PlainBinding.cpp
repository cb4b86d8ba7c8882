//===- PlainBinding.cpp - The tensors of one call of an entry -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Plain/PlainBinding.h"
#include "attune/abi.h"

#include <cstring>

using namespace mlir;
using namespace attune;

DType attune::getPlainDType(Type type, bool wide) {
  switch (*getElementKind(type, wide)) {
  case ElementKind::F32:
    return DType::F32;
  case ElementKind::F64:
    return DType::F64;
  case ElementKind::BF16:
    return DType::BF16;
  case ElementKind::F16:
    return DType::F16;
  case ElementKind::I32:
    return DType::I32;
  case ElementKind::I16:
    return DType::I16;
  case ElementKind::I8:
    return DType::I8;
  case ElementKind::I1:
    return DType::BOOL;
  case ElementKind::I64:
    break;
  }
  return DType::I64;
}

static OwnedTensor makeTensor(const std::string &name, DType dtype, std::vector<int64_t> shape, uint8_t fill) {
  size_t bytes = static_cast<size_t>(*elementCount(shape)) * elementSize(dtype);
  return {{name, dtype, std::move(shape)}, std::vector<uint8_t>(bytes, fill)};
}

Result<std::vector<int64_t>> PlainBinding::shapeOf(const PlainArgument &argument) const {
  std::vector<int64_t> shape;
  for (const auto &dim : argument.dims) {
    if (const auto *size = std::get_if<int64_t>(&dim)) {
      shape.push_back(*size);
      continue;
    }
    auto found = sizes.find(std::get<std::string>(dim));
    if (found == sizes.end())
      return Status::error("'" + argument.name + "': no input gives the dim '" + std::get<std::string>(dim) + "'");
    shape.push_back(found->second);
  }
  return shape;
}

Status PlainBinding::takeInput(const PlainArgument &argument, const OwnedTensor &given) {
  const std::string what = "input '" + argument.name + "': expected ";
  if (given.spec.shape.size() != argument.dims.size())
    return Status::error(what + std::to_string(argument.dims.size()) + " dimensions, got " + shapeText(given.spec.shape));
  for (auto [dim, size] : llvm::zip(argument.dims, given.spec.shape)) {
    const auto *name = std::get_if<std::string>(&dim);
    int64_t expected = name ? sizes.emplace(*name, size).first->second : std::get<int64_t>(dim);
    if (size != expected)
      return Status::error(what + (name ? *name + " = " : "size ") + std::to_string(expected) + ", got " + shapeText(given.spec.shape));
  }
  DType dtype = getPlainDType(argument.elementType, wide);
  OwnedTensor tensor = makeTensor(argument.name, dtype, given.spec.shape, 0);
  int64_t count = *elementCount(given.spec.shape);
  if (isFloat(dtype) && isFloat(given.spec.dtype)) {
    if (given.spec.dtype == dtype) {
      tensor.data = given.data;
    } else {
      std::vector<float> floats(count);
      convertToF32(given.spec.dtype, given.data.data(), 0, count, floats.data());
      if (dtype == DType::F32)
        std::memcpy(tensor.data.data(), floats.data(), tensor.data.size());
      else
        std::copy(floats.begin(), floats.end(), reinterpret_cast<double *>(tensor.data.data()));
    }
  } else if (dtype == DType::I64 && isInteger(given.spec.dtype)) {
    bool isMask = argument.maxValue == 2 || argument.fill == xfmr::InputDefault::Ones || argument.fill == xfmr::InputDefault::Tokens;
    if (given.spec.dtype == DType::BOOL && !isMask)
      return Status::error(what + "integers, got BOOL, which only masks take");
    auto *values = reinterpret_cast<int64_t *>(tensor.data.data());
    convertToI64(given.spec.dtype, given.data.data(), 0, count, values);
    for (int64_t i = 0; i < count && argument.maxValue > 0; ++i)
      if (values[i] < 0 || values[i] >= argument.maxValue)
        return Status::error(what + "values from 0 to " + std::to_string(argument.maxValue - 1) + ", got " + std::to_string(values[i]));
  } else {
    return Status::error(what + dtypeName(dtype) + ", got " + dtypeName(given.spec.dtype));
  }
  inputs[argument.name] = std::move(tensor);
  return {};
}

Status PlainBinding::addDefault(const PlainArgument &argument, const PlainRequest &request) {
  if (argument.fill == xfmr::InputDefault::Required)
    return Status::error("input '" + argument.name + "' is missing");
  Result<std::vector<int64_t>> shape = shapeOf(argument);
  if (!shape)
    return shape.status();
  OwnedTensor tensor = makeTensor(argument.name, getPlainDType(argument.elementType, wide), *shape, 0);
  int64_t count = *elementCount(*shape), last = shape->empty() ? 1 : shape->back();
  for (int64_t i = 0; i < count; ++i) {
    int64_t value = 0;
    switch (argument.fill) {
    case xfmr::InputDefault::Ones:
    case xfmr::InputDefault::Tokens:
      value = 1;
      break;
    case xfmr::InputDefault::Arange:
    case xfmr::InputDefault::Slots:
    case xfmr::InputDefault::Sources:
      value = i % last;
      break;
    case xfmr::InputDefault::PastLengths:
      value = request.past;
      break;
    case xfmr::InputDefault::SourceLengths:
      value = request.source;
      break;
    default:
      break;
    }
    auto store = [&](auto element) { reinterpret_cast<decltype(element) *>(tensor.data.data())[i] = element; };
    switch (tensor.spec.dtype) {
    case DType::F32:
      store(static_cast<float>(value));
      break;
    case DType::F64:
      store(static_cast<double>(value));
      break;
    case DType::I32:
      store(static_cast<int32_t>(value));
      break;
    case DType::I16:
      store(static_cast<int16_t>(value));
      break;
    case DType::I8:
      store(static_cast<int8_t>(value));
      break;
    case DType::BOOL:
      store(static_cast<uint8_t>(value != 0));
      break;
    case DType::I64:
      store(value);
      break;
    default:
      return Status::error("input '" + argument.name + "': expected a default of F32, F64 or integers, got " +
                           dtypeName(tensor.spec.dtype));
    }
  }
  inputs[argument.name] = std::move(tensor);
  return {};
}

Status PlainBinding::makeCaches(const PlainRequest &request) {
  auto panelsFor = [](int64_t tokens) { return std::max<int64_t>(1, (tokens + ATTUNE_CACHE_PANEL - 1) / ATTUNE_CACHE_PANEL); };
  for (const PlainArgument &argument : entry->arguments) {
    if (argument.kind != PlainArgument::Kind::Cache)
      continue;
    if (!caches)
      return Status::error("entry '" + entry->name + "' uses caches; run it by --steps");
    auto found = caches->find(argument.name);
    if (found == caches->end()) {
      bool ofSources = std::get_if<std::string>(&argument.dims[0]) && std::get<std::string>(argument.dims[0]) == "sources";
      auto batch = sizes.find("batch");
      int64_t panels = panelsFor(ofSources ? request.source : request.capacity);
      std::vector<int64_t> shape;
      for (const auto &dim : argument.dims) {
        const auto *name = std::get_if<std::string>(&dim);
        int64_t rows = batch == sizes.end() ? 1 : batch->second;
        shape.push_back(!name                                       ? std::get<int64_t>(dim)
                        : *name == "slots" || *name == "sources"    ? rows
                        : llvm::StringRef(*name).contains("panels") ? panels
                                                                    : panels * ATTUNE_CACHE_PANEL);
      }
      found = caches->emplace(argument.name, makeTensor(argument.name, getPlainDType(argument.elementType, wide), shape, 0)).first;
    }
    const std::vector<int64_t> &shape = found->second.spec.shape;
    for (auto [dim, size] : llvm::zip(argument.dims, shape))
      if (const auto *name = std::get_if<std::string>(&dim))
        sizes.emplace(*name, size);
  }
  return {};
}

Result<PlainBinding> PlainBinding::create(const PlainEntry &entry, const PlainRequest &request, PlainCaches *caches, bool wide) {
  PlainBinding binding(entry, caches, wide);
  binding.sizes = {{"workers", 1}, {"past", request.past}, {"source_length", request.source}};
  if (llvm::any_of(entry.arguments, [](const PlainArgument &a) {
        return a.kind == PlainArgument::Kind::Input &&
               llvm::is_contained(a.dims, std::variant<std::string, int64_t>(std::string("source_length")));
      }))
    binding.sizes.erase("source_length");
  for (const OwnedTensor &given : request.inputs) {
    auto argument = llvm::find_if(
        entry.arguments, [&](const PlainArgument &a) { return a.kind == PlainArgument::Kind::Input && a.name == given.spec.name; });
    if (argument == entry.arguments.end())
      return Status::error("input '" + given.spec.name + "': entry '" + entry.name + "' has no such input");
    if (Status status = binding.takeInput(*argument, given); status.failed())
      return status;
  }
  for (const PlainArgument &argument : entry.arguments)
    if (argument.kind == PlainArgument::Kind::Input && !binding.inputs.count(argument.name))
      if (Status status = binding.addDefault(argument, request); status.failed())
        return Status::error("entry '" + entry.name + "': " + status.message());
  if (Status status = binding.makeCaches(request); status.failed())
    return status;
  return binding;
}

OwnedTensor &PlainBinding::tensor(const PlainArgument &argument) {
  return argument.kind == PlainArgument::Kind::Cache ? caches->at(argument.name) : inputs.at(argument.name);
}

Result<OwnedTensor> PlainBinding::makeOutput(const PlainArgument &argument, uint8_t poison) const {
  Result<std::vector<int64_t>> shape = shapeOf(argument);
  if (!shape)
    return shape.status();
  return makeTensor(argument.name, getPlainDType(argument.elementType, wide), *shape, poison);
}

std::vector<OwnedTensor> attune::splitGroup(const PlainArgument &argument, OwnedTensor output) {
  std::vector<OwnedTensor> members;
  if (!argument.isGroup) {
    members.push_back(std::move(output));
    return members;
  }
  int64_t count = output.spec.shape[0];
  size_t bytes = count == 0 ? 0 : output.data.size() / static_cast<size_t>(count);
  for (int64_t i = 0; i < count; ++i) {
    auto begin = output.data.begin() + static_cast<ptrdiff_t>(bytes * static_cast<size_t>(i));
    members.push_back(
        {{output.spec.name + "." + std::to_string(i), output.spec.dtype, {output.spec.shape.begin() + 1, output.spec.shape.end()}},
         {begin, begin + static_cast<ptrdiff_t>(bytes)}});
  }
  return members;
}
