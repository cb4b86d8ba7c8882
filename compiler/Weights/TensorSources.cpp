//===- TensorSources.cpp - Stored and generated tensors -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Weights/TensorSources.h"

#include "compiler/Support/Generate.h"
#include "compiler/Support/Safetensors.h"
#include "compiler/Weights/ListedTensors.h"

using namespace attune;

namespace {

/// The tensors in the files of a folder. The files are mapped to memory.
class StoredTensors : public ListedTensors {
public:
  explicit StoredTensors(SafetensorsFolder opened) : folder(std::move(opened)) {
    for (const std::string &name : folder.names()) {
      const TensorView *view = folder.find(name);
      list({name, view->dtype, view->shape});
    }
  }

  std::string fileOf(std::string_view name) const override { return folder.fileOf(name); }

  Status read(std::string_view name, int64_t begin, int64_t count, float *out) const override {
    if (auto spec = checkRead(name, begin, count); !spec)
      return spec.status();
    convertToF32(*folder.find(name), begin, count, out);
    return {};
  }

private:
  SafetensorsFolder folder;
};

/// Tensors whose values are a function of a seed.
class GeneratedTensors : public ListedTensors {
public:
  GeneratedTensors(std::vector<TensorSpec> specs, int64_t seed, std::string file) : seed(seed), file(std::move(file)) {
    for (TensorSpec &spec : specs)
      list(std::move(spec));
  }

  std::string fileOf(std::string_view) const override { return file; }

  Status read(std::string_view name, int64_t begin, int64_t count, float *out) const override {
    Result<const TensorSpec *> spec = checkRead(name, begin, count);
    if (!spec)
      return spec.status();
    generateValues(name, seed, generatorRule(name, (*spec)->shape), begin, count, out);
    return {};
  }

private:
  int64_t seed;
  std::string file;
};

} // namespace

Result<std::unique_ptr<TensorProvider>> attune::openTensors(const std::string &folder) {
  Result<SafetensorsFolder> opened = SafetensorsFolder::open(folder);
  if (!opened)
    return opened.status();
  return std::unique_ptr<TensorProvider>(std::make_unique<StoredTensors>(std::move(*opened)));
}

std::unique_ptr<TensorProvider> attune::generateTensors(std::vector<TensorSpec> specs, int64_t seed, std::string file) {
  return std::make_unique<GeneratedTensors>(std::move(specs), seed, std::move(file));
}
