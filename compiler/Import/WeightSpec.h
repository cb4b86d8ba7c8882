//===- WeightSpec.h - The constant tensors of a model -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A family declares the tensors its files have and, where a layer wants them in another form, expressions over them: the counterparts of
// the
// `#xfmr` sources, before there is a context to make attributes in. Expressions are numbered like tensors, so that whatever takes a weight
// takes either.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_WEIGHTSPEC_H
#define ATTUNE_IMPORT_WEIGHTSPEC_H

#include "compiler/Support/SafetensorsWriter.h"

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace attune {

/// A constant of the model: an index into WeightList::weights.
using WeightId = int;
inline constexpr WeightId noWeight = -1;

/// Parameters of a computed table, by name: numbers, words and lists of numbers.
using WeightParameters = std::vector<std::pair<std::string, std::variant<double, std::string, std::vector<double>>>>;

/// A tensor of the files, or an expression over other weights.
struct WeightSpec {
  enum Kind { Tensor, Fill, Computed, Slice, Select, Transpose, Reshape, Scale, Shift, Concat, Stack, Project, LayerNorm };

  Kind kind = Tensor;
  /// Tensor: the name in the files, as the current version of the reference implementation has it. Others: a name for the module.
  std::string name;
  std::vector<int64_t> shape;
  /// Tensor: other names of the same parameter.
  std::vector<std::string> aliases;
  /// Tensor: the value of all elements where the files lack it.
  std::optional<double> absent;
  /// Tensor: the weight that takes its place where the files lack it.
  WeightId standIn = noWeight;
  /// Tensor: one that files have in place of others, so that generated files lack it.
  bool isStandIn = false;
  std::vector<WeightId> operands;
  /// Slice, Select, Concat.
  int64_t axis = 0;
  /// Slice: begin and end. Select: indices. Transpose: the permutation.
  std::vector<int64_t> indices;
  /// Fill: the value of every element. Scale: the factor. Shift: the summand. LayerNorm: epsilon.
  double value = 0;
  /// Computed: the kind of table and its parameters.
  std::string table;
  WeightParameters parameters;
  /// Computed: the tensor whose values, where the files have it, are the parameter `frequencies`.
  WeightId frequencies = noWeight;
};

/// The weights of a model, tensors in the order of a generated file.
class WeightList {
public:
  std::vector<WeightSpec> weights;

  const std::vector<int64_t> &shapeOf(WeightId id) const { return weights[id].shape; }

  /// Declares a tensor of the files.
  WeightId tensor(std::string name, std::vector<int64_t> shape, std::vector<std::string> aliases = {});
  /// Says that files may have the tensor |id| under |name|, too: of tensors that are one, some keep only the last.
  void addAlias(WeightId id, std::string name) { weights[id].aliases.push_back(std::move(name)); }
  /// A constant filled with |value|.
  WeightId fill(std::string name, std::vector<int64_t> shape, double value);
  /// A table that `#xfmr.computed` names |table|.
  WeightId computed(std::string name, std::vector<int64_t> shape, std::string table, WeightParameters parameters);
  /// Indices |begin| … |end| - 1 of |axis|.
  WeightId slice(WeightId id, int64_t axis, int64_t begin, int64_t end);
  /// The listed indices of |axis|.
  WeightId select(WeightId id, int64_t axis, std::vector<int64_t> indices);
  /// A matrix with rows and columns exchanged.
  WeightId transpose(WeightId id) { return permute(id, {1, 0}); }
  /// Dimension i of the result is dimension |permutation|[i] of the weight.
  WeightId permute(WeightId id, std::vector<int64_t> permutation);
  WeightId reshape(WeightId id, std::vector<int64_t> shape);
  WeightId scale(WeightId id, double factor);
  /// Every element plus |value|.
  WeightId shift(WeightId id, double value);
  /// The weights joined along |axis|.
  WeightId concat(int64_t axis, std::vector<WeightId> ids);
  /// The weights, all of one shape, along a new first axis.
  WeightId stackWeights(std::vector<WeightId> ids);

  /// `rows matrix^T + bias`; |bias| may be noWeight.
  WeightId project(WeightId rows, WeightId matrix, WeightId bias);
  /// The layer norm of each row of a matrix.
  WeightId layerNorm(WeightId rows, WeightId weight, WeightId bias, double epsilon);

  /// Declares a tensor that files may have in place of others (setStandIn) or of a formula (`frequencies`).
  WeightId otherTensor(std::string name, std::vector<int64_t> shape);
  /// Says that |standIn| takes the place of the tensor |id| where the files lack it.
  void setStandIn(WeightId id, WeightId standIn) { weights[id].standIn = standIn; }

  /// The tensors of a generated weight file.
  std::vector<TensorSpec> tensors() const;

private:
  WeightId add(WeightSpec spec);
  /// An expression over |id| whose name is that of |id| and |suffix|.
  WeightSpec over(WeightId id, WeightSpec::Kind kind, const std::string &suffix) const;
};

} // namespace attune

#endif // ATTUNE_IMPORT_WEIGHTSPEC_H
