//===- WeightsInput.cpp - Tensors of a model given as IR -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/WeightsInput.h"
#include "compiler/Support/Safetensors.h"
#include "compiler/Weights/TensorSources.h"
#include "llvm/Support/FileSystem.h"

using namespace attune;

namespace {

/// The tensors of one safetensors file.
class FileTensors : public TensorProvider {
public:
  explicit FileTensors(SafetensorsFile opened) : file(std::move(opened)) {
    for (const auto &[name, view] : file.tensors())
      specs.emplace(name, TensorSpec{name, view.dtype, view.shape});
  }

  const TensorSpec *find(std::string_view name) const override {
    auto found = specs.find(name);
    return found == specs.end() ? nullptr : &found->second;
  }
  std::vector<std::string> names() const override {
    std::vector<std::string> result;
    for (const auto &entry : specs)
      result.push_back(entry.first);
    return result;
  }
  std::string fileOf(std::string_view) const override { return file.path(); }
  Status read(std::string_view name, int64_t begin, int64_t count, float *out) const override {
    const TensorView *view = file.find(name);
    if (!view || !isFloat(view->dtype) || begin < 0 || count < 0 || begin > view->elements || count > view->elements - begin)
      return Status::error(file.path() + ": tensor '" + std::string(name) + "' is missing, not of a float type, or shorter than expected");
    convertToF32(*view, begin, count, out);
    return {};
  }

private:
  SafetensorsFile file;
  std::map<std::string, TensorSpec, std::less<>> specs;
};

} // namespace

Result<std::unique_ptr<TensorProvider>> attune::openWeightsInput(const std::string &path, const std::string &model) {
  if (path.empty())
    return generateTensors({}, 0, model + " (no --weights given)");
  if (llvm::sys::fs::is_directory(path))
    return openTensors(path);
  Result<SafetensorsFile> file = SafetensorsFile::open(path);
  if (!file)
    return file.status();
  return std::unique_ptr<TensorProvider>(std::make_unique<FileTensors>(std::move(*file)));
}
