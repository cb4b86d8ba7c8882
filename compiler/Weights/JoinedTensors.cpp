//===- JoinedTensors.cpp - Tensors of several folders ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Weights/JoinedTensors.h"
#include "compiler/Weights/ListedTensors.h"

using namespace attune;

namespace {

class JoinedTensors : public ListedTensors {
public:
  explicit JoinedTensors(std::vector<TensorPart> given) : parts(std::move(given)) {
    for (const TensorPart &part : parts)
      for (const std::string &name : part.tensors->names()) {
        TensorSpec spec = *part.tensors->find(name);
        spec.name = part.prefix + name;
        list(std::move(spec));
      }
  }

  std::string fileOf(std::string_view name) const override { return providerOf(name).fileOf(name); }

  Status read(std::string_view name, int64_t begin, int64_t count, float *out) const override {
    if (Result<const TensorSpec *> spec = checkRead(name, begin, count); !spec)
      return spec.status();
    return providerOf(name).read(name, begin, count, out);
  }

private:
  /// Returns the provider of the tensor |name|, and removes the prefix of its part from |name|. The last part is the
  /// base, whose prefix is empty.
  const TensorProvider &providerOf(std::string_view &name) const {
    for (const TensorPart &part : parts)
      if (name.substr(0, part.prefix.size()) == part.prefix) {
        name.remove_prefix(part.prefix.size());
        return *part.tensors;
      }
    return *parts.back().tensors;
  }

  std::vector<TensorPart> parts;
};

} // namespace

std::unique_ptr<TensorProvider> attune::joinTensors(std::unique_ptr<TensorProvider> base, std::vector<TensorPart> parts) {
  parts.push_back({"", std::move(base)});
  return std::make_unique<JoinedTensors>(std::move(parts));
}
