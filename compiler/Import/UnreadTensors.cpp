//===- UnreadTensors.cpp - Tensors that a model does not read -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/UnreadTensors.h"
#include "compiler/Import/WeightCatalog.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <set>

using namespace attune;
using llvm::StringRef;

bool attune::isBuffer(std::string_view name) {
  static constexpr StringRef ends[] = {"position_ids",     "inv_freq",       "attn.bias",
                                       "attn.masked_bias", "attention.bias", "crossattention.bias"};
  return llvm::any_of(ends, [&](StringRef end) { return StringRef(name) == end || StringRef(name).ends_with(("." + end).str()); });
}

/// Returns |name| with '#' for each part between dots that is a number, so that the names of all layers are equal.
static std::string withoutNumbers(StringRef name) {
  std::string result;
  while (!name.empty()) {
    auto [part, rest] = name.split('.');
    bool isNumber = llvm::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
    result += (isNumber ? "#" : part.str()) + (rest.empty() ? "" : ".");
    name = rest;
  }
  return result;
}

/// Returns |path| without its last part; "" if it has only one.
static StringRef parentOf(StringRef path) { return path.rsplit('.').second.empty() ? StringRef() : path.rsplit('.').first; }

std::string attune::warnOfUnreadTensors(const TransformerSpec &spec, const TensorProvider &tensors) {
  const WeightCatalog catalog(spec, tensors);
  std::set<std::string> read;
  // The modules with parameters that the model reads, and the modules in a layer that contain these.
  std::set<std::string> modules;
  for (const WeightSpec &weight : spec.weights) {
    if (weight.kind != WeightSpec::Tensor)
      continue;
    for (const std::string &name : catalog.namesInFiles(weight)) {
      read.insert(name);
      const std::string pattern = withoutNumbers(name);
      const StringRef module = parentOf(pattern), around = parentOf(module);
      if (!module.empty())
        modules.insert(module.str());
      if (around.contains('#'))
        modules.insert(around.str());
    }
  }
  std::vector<std::string> unread;
  for (const std::string &name : tensors.names()) {
    const TensorSpec *tensor = tensors.find(name);
    if (read.count(name) || isBuffer(name) || !isFloat(tensor->dtype) || tensor->shape.empty())
      continue;
    const std::string pattern = withoutNumbers(name);
    const StringRef module = parentOf(pattern), around = parentOf(module);
    if (modules.count(module.str()) || (around.contains('#') && modules.count(around.str())))
      unread.push_back(name);
  }
  if (unread.empty())
    return "";
  return tensors.fileOf(unread.front()) + ": tensor '" + unread.front() + "'" +
         (unread.size() > 1 ? " and " + std::to_string(unread.size() - 1) + " more are" : " is") + " not read: " + spec.architecture +
         " with this configuration has no such " + (unread.size() > 1 ? "parameters" : "parameter");
}
