//===- WeightCatalog.cpp - Which tensor of a file is which parameter ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/WeightCatalog.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace attune;
using llvm::StringRef;

/// Adds |name| and, for a parameter of a norm, its name in releases before 2019: "LayerNorm.gamma" for
/// "LayerNorm.weight".
static void addWithLegacySuffix(std::vector<std::string> &names, StringRef name) {
  names.push_back(name.str());
  StringRef stem = name;
  if (stem.consume_back("LayerNorm.weight"))
    names.push_back((stem + "LayerNorm.gamma").str());
  else if (stem.consume_back("LayerNorm.bias"))
    names.push_back((stem + "LayerNorm.beta").str());
}

std::vector<std::string> WeightCatalog::namesOf(const WeightSpec &parameter) const {
  const StringRef prefix = spec.basePrefix;
  std::vector<std::string> names, known = {parameter.name};
  known.insert(known.end(), parameter.aliases.begin(), parameter.aliases.end());
  for (StringRef name : known) {
    addWithLegacySuffix(names, name);
    if (prefix.empty())
      continue;
    if (StringRef bare = name; bare.consume_front(prefix))
      addWithLegacySuffix(names, bare);
    else
      addWithLegacySuffix(names, (prefix + name).str());
  }
  return names;
}

Result<std::vector<double>> WeightCatalog::readValues(const WeightSpec &parameter) const {
  Result<const TensorSpec *> found = find(parameter);
  if (!found)
    return found.status();
  std::vector<float> values(elementCount(parameter.shape).value_or(0));
  if (Status status = tensors.read((*found)->name, 0, int64_t(values.size()), values.data()); status.failed())
    return status;
  return std::vector<double>(values.begin(), values.end());
}

std::vector<std::string> WeightCatalog::namesInFiles(const WeightSpec &parameter) const {
  std::vector<std::string> names = namesOf(parameter);
  llvm::erase_if(names, [&](const std::string &name) { return !tensors.find(name); });
  return names;
}

/// Prefixes that torch.compile, data parallelism and FSDP add to the names of tensors. transformers does not
/// remove them.
static constexpr StringRef wrappers[] = {"_orig_mod.", "module.", "_fsdp_wrapped_module."};

std::string WeightCatalog::findWrapped(const std::vector<std::string> &names) const {
  for (const std::string &wrapped : tensors.names()) {
    StringRef left = wrapped;
    std::string bare;
    while (!left.empty()) {
      const StringRef *wrapper = llvm::find_if(wrappers, [&](StringRef part) { return left.starts_with(part); });
      if (wrapper != std::end(wrappers)) {
        left = left.drop_front(wrapper->size());
        continue;
      }
      auto [part, rest] = left.split('.');
      bare += (part + (rest.empty() ? "" : ".")).str();
      left = rest;
    }
    if (bare != wrapped && llvm::is_contained(names, bare))
      return wrapped;
  }
  return "";
}

bool WeightCatalog::has(const WeightSpec &parameter) const {
  return llvm::any_of(namesOf(parameter), [&](const std::string &name) { return tensors.find(name) != nullptr; });
}

bool WeightCatalog::hasAll(WeightId id) const {
  const WeightSpec &weight = spec.weights[id];
  return weight.kind == WeightSpec::Tensor ? has(weight) : llvm::all_of(weight.operands, [&](WeightId operand) { return hasAll(operand); });
}

Result<const TensorSpec *> WeightCatalog::find(const WeightSpec &parameter) const {
  std::vector<std::string> names = namesOf(parameter);
  for (const std::string &name : names) {
    const TensorSpec *found = tensors.find(name);
    if (!found)
      continue;
    const std::string where = tensors.fileOf(name) + ": tensor '" + name + "': expected ";
    if (!isFloat(found->dtype))
      return Status::error(where + kFloatNames + ", got " + dtypeName(found->dtype));
    if (found->shape != parameter.shape)
      return Status::error(where + "shape " + shapeText(parameter.shape) + ", got " + shapeText(found->shape));
    return found;
  }
  if (std::string wrapped = findWrapped(names); !wrapped.empty())
    return Status::error(tensors.fileOf(wrapped) + ": expected tensor '" + parameter.name + "', found '" + wrapped +
                         "', saved from a wrapper of the model (torch.compile, data parallelism); save the model that it wraps");
  std::string others;
  for (size_t i = 1; i < names.size(); ++i)
    others += (i == 1 ? ", nor " : ", ") + names[i];
  return Status::error(tensors.fileOf(parameter.name) + ": expected tensor '" + parameter.name + "' of shape " +
                       shapeText(parameter.shape) + ", found none of this name" + others);
}
