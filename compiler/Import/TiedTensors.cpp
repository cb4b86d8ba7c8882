//===- TiedTensors.cpp - One parameter under several names ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/TiedTensors.h"
#include "compiler/Import/families/Families.h"
#include "compiler/Import/WeightCatalog.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <cstring>

using namespace attune;

namespace {
/// Two tensors of one parameter with different values.
struct Difference {
  /// The name of the tensor that the parameter uses, and the name of another tensor that files have for it.
  std::string used, other;
  bool operator==(const Difference &difference) const { return used == difference.used && other == difference.other; }
};
} // namespace

/// Returns true if the tensors |a| and |b| have the same shape and, rounded to f32, the same bits.
static Result<bool> haveSameValues(const TensorProvider &tensors, const std::string &a, const std::string &b) {
  constexpr int64_t kChunk = 1 << 18;
  const std::vector<int64_t> &shape = tensors.find(a)->shape;
  if (shape != tensors.find(b)->shape)
    return false;
  const int64_t count = elementCount(shape).value_or(0);
  std::vector<float> left, right;
  for (int64_t begin = 0; begin < count; begin += kChunk) {
    left.resize(std::min(kChunk, count - begin));
    right.resize(left.size());
    if (Status status = tensors.read(a, begin, int64_t(left.size()), left.data()); status.failed())
      return status;
    if (Status status = tensors.read(b, begin, int64_t(right.size()), right.data()); status.failed())
      return status;
    if (std::memcmp(left.data(), right.data(), left.size() * sizeof(float)) != 0)
      return false;
  }
  return true;
}

static Result<std::vector<Difference>> findDifferences(const TransformerSpec &spec, const TensorProvider &tensors) {
  const WeightCatalog catalog(spec, tensors);
  std::vector<Difference> differences;
  for (const WeightSpec &weight : spec.weights) {
    if (weight.kind != WeightSpec::Tensor)
      continue;
    const std::vector<std::string> names = catalog.namesInFiles(weight);
    for (size_t i = 1; i < names.size(); ++i) {
      const Difference difference{names[0], names[i]};
      if (std::count(names.begin(), names.begin() + i, names[i]) || llvm::is_contained(differences, difference))
        continue;
      Result<bool> same = haveSameValues(tensors, names[0], names[i]);
      if (!same)
        return same.status();
      if (!*same)
        differences.push_back(difference);
    }
  }
  return differences;
}

/// Returns |name| without the prefix of the base model, and with `weight` and `bias` for the old names `gamma` and
/// `beta` of a norm's parameters.
static std::string plainName(const TransformerSpec &spec, llvm::StringRef name) {
  name.consume_front(spec.basePrefix);
  if (name.consume_back("LayerNorm.gamma"))
    return (name + "LayerNorm.weight").str();
  if (name.consume_back("LayerNorm.beta"))
    return (name + "LayerNorm.bias").str();
  return name.str();
}

Result<bool> attune::mustSeparateTied(const Config &config, const TransformerSpec &spec, const TensorProvider &tensors,
                                      std::vector<std::string> &warnings) {
  Result<std::vector<Difference>> tied = findDifferences(spec, tensors);
  if (!tied)
    return tied.status();
  if (tied->empty())
    return false;
  Config untied = config;
  untied.set("tie_word_embeddings", false);
  Result<TransformerSpec> other = readTransformerSpec(untied);
  // The differences that remain if "tie_word_embeddings" is false; all of them if the model cannot be read with this
  // setting.
  std::vector<Difference> left = *tied;
  if (other) {
    Result<std::vector<Difference>> found = findDifferences(*other, tensors);
    if (!found)
      return found.status();
    left = std::move(*found);
  }
  bool separates = false;
  for (const Difference &difference : *tied) {
    const std::string both = tensors.fileOf(difference.other) + ": tensors '" + difference.used + "' and '" + difference.other + "'";
    if (llvm::is_contained(left, difference)) {
      // Tensors with unlike names are no duplicates: the second is a stand-in for files that lack the first. If files
      // have both, each has a meaning of its own.
      if (plainName(spec, difference.used) != plainName(spec, difference.other))
        continue;
      return Status::error(both + ": expected equal values, as both are stored for one parameter of " + spec.architecture);
    }
    separates = !isOfVersion4(spec.family);
    warnings.push_back(both + " have other values, although \"tie_word_embeddings\" makes them one parameter: " +
                       (isOfVersion4(spec.family) ? "the values of '" + difference.used + "' are used, as in version 4 of transformers"
                                                  : "they are not tied, as in version 5 of transformers"));
  }
  return separates;
}
