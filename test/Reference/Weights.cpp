//===- Weights.cpp - The tensors of a model folder, by canonical name ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/Reference/Weights.h"

#include <cstdio>
#include <cstdlib>

namespace attune::reference {

void fail(const std::string &message) {
  std::fprintf(stderr, "attune-test-reference: error: %s\n", message.c_str());
  std::exit(1);
}

Array toArray(const TensorView &view) {
  if (!isFloat(view.dtype))
    fail("tensor '" + view.name + "': expected floats, got " + dtypeName(view.dtype));
  std::vector<float> values(view.elements);
  convertToF32(view, 0, view.elements, values.data());
  Array array(view.shape);
  array.data.assign(values.begin(), values.end());
  return array;
}

static SafetensorsFolder openFolder(const std::string &path) {
  Result<SafetensorsFolder> opened = SafetensorsFolder::open(path);
  if (!opened)
    fail(opened.message());
  return std::move(*opened);
}

Weights::Weights(const std::string &path) : folder(openFolder(path)) {}

/// Returns |name| with LayerNorm's weight and bias called gamma and beta, as files of 2019 have them.
static std::string olderName(const std::string &name) {
  for (auto [now, then] : {std::pair("LayerNorm.weight", "LayerNorm.gamma"), std::pair("LayerNorm.bias", "LayerNorm.beta")}) {
    size_t at = name.rfind(now);
    if (at != std::string::npos)
      return name.substr(0, at) + then;
  }
  return name;
}

const TensorView *Weights::find(const std::string &name) const {
  for (const std::string &prefix : {std::string(), std::string("bert."), std::string("roberta.")})
    for (const std::string &spelling : {name, olderName(name)})
      if (const TensorView *view = folder.find(prefix + spelling))
        return view;
  return nullptr;
}

Array Weights::get(const std::string &name) const {
  const TensorView *view = find(name);
  if (!view)
    fail("no tensor '" + name + "'");
  return toArray(*view);
}

} // namespace attune::reference
