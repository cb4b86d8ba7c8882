//===- ListedTensors.cpp - Providers with a list of tensors ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Weights/ListedTensors.h"

using namespace attune;

const TensorSpec *ListedTensors::find(std::string_view name) const {
  auto it = specs.find(name);
  return it == specs.end() ? nullptr : &it->second;
}

std::vector<std::string> ListedTensors::names() const {
  std::vector<std::string> result;
  for (const auto &entry : specs)
    result.push_back(entry.first);
  return result;
}

void ListedTensors::list(TensorSpec spec) {
  std::string name = spec.name;
  specs.emplace(std::move(name), std::move(spec));
}

Result<const TensorSpec *> ListedTensors::checkRead(std::string_view name, int64_t begin, int64_t count) const {
  const std::string where = fileOf(name) + ": tensor '" + std::string(name) + "': ";
  const TensorSpec *spec = find(name);
  if (!spec)
    return Status::error(where + "expected in the file, which lacks it");
  if (!isFloat(spec->dtype))
    return Status::error(where + "expected " + kFloatNames + ", got " + dtypeName(spec->dtype));
  int64_t elements = elementCount(spec->shape).value_or(0);
  if (begin < 0 || count < 0 || begin > elements || count > elements - begin)
    return Status::error(where + "expected a range within " + std::to_string(elements) + " elements, got " + std::to_string(count) +
                         " elements from " + std::to_string(begin));
  return spec;
}
