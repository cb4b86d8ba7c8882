//===- TensorProvider.cpp - Origin of the tensors of a model --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Weights/TensorProvider.h"

#include "compiler/Support/Generate.h"
#include "compiler/Support/Safetensors.h"

#include <map>

using namespace attune;

namespace {

/// The common base of both providers: the list of tensors, and checks before a read.
class ListedTensors : public TensorProvider {
public:
  const TensorSpec *find(std::string_view name) const override {
    auto it = specs.find(name);
    return it == specs.end() ? nullptr : &it->second;
  }

  std::vector<std::string> names() const override {
    std::vector<std::string> result;
    for (const auto &entry : specs)
      result.push_back(entry.first);
    return result;
  }

protected:
  /// Returns the tensor of this name if its elements |begin| … |begin| + |count| - 1 can be read as floats, else an
  /// error.
  Result<const TensorSpec *> checkRead(std::string_view name, int64_t begin, int64_t count) const {
    const std::string where = fileOf(name) + ": tensor '" + std::string(name) + "': ";
    const TensorSpec *spec = find(name);
    if (!spec)
      return Status::error(where + "expected in the file, which lacks it");
    if (!isFloat(spec->dtype))
      return Status::error(where + "expected F32, F16 or BF16, got " + dtypeName(spec->dtype));
    int64_t elements = elementCount(spec->shape).value_or(0);
    if (begin < 0 || count < 0 || begin > elements || count > elements - begin)
      return Status::error(where + "expected a range within " + std::to_string(elements) + " elements, got " + std::to_string(count) +
                           " elements from " + std::to_string(begin));
    return spec;
  }

  std::map<std::string, TensorSpec, std::less<>> specs;
};

/// The tensors of a folder, read through its mappings.
class StoredTensors : public ListedTensors {
public:
  explicit StoredTensors(SafetensorsFolder opened) : folder(std::move(opened)) {
    for (const std::string &name : folder.names()) {
      const TensorView *view = folder.find(name);
      specs.emplace(name, TensorSpec{name, view->dtype, view->shape});
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

/// Generated tensors, a function of a seed.
class GeneratedTensors : public ListedTensors {
public:
  GeneratedTensors(std::vector<TensorSpec> list, int64_t seed, std::string file) : seed(seed), file(std::move(file)) {
    for (TensorSpec &spec : list) {
      std::string name = spec.name;
      specs.emplace(std::move(name), std::move(spec));
    }
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
