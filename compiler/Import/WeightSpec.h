//===- WeightSpec.h - The constant tensors of a model -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A family declares the tensors of its files and, where a layer needs another form, expressions over them. Both are
// counterparts of attributes (`#xfmr.tensor`, `#xfmr.slice`, …), before there is an MLIRContext. Expressions are
// numbered like tensors, so that a weight may be either.
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

/// A tensor of the files, a constant or computed table, or an expression over other weights.
struct WeightSpec {
  enum Kind { Tensor, Fill, Computed, Slice, Select, Transpose, Reshape, Scale, Shift, Concat, Stack, Project, LayerNorm, UnitRows };

  Kind kind = Tensor;
  /// Tensor: the name in the files, as in the current version of transformers. Others: a name for the symbol in the
  /// MLIR module.
  std::string name;
  std::vector<int64_t> shape;
  /// Tensor: other names of the same parameter.
  std::vector<std::string> aliases;
  /// Tensor: the value of all elements if the files lack it; empty if there is no such value.
  std::optional<double> absent;
  /// Tensor: the weight that replaces it if the files lack it.
  WeightId standIn = noWeight;
  /// Tensor: true if files may have it in place of another tensor or of a formula (otherTensor). Generated files lack
  /// it.
  bool isStandIn = false;
  std::vector<WeightId> operands;
  /// Slice, Select, Concat: the dimension.
  int64_t axis = 0;
  /// Slice: begin and end. Select: indices. Transpose: the permutation.
  std::vector<int64_t> indices;
  /// Fill: the value of every element. Scale: the factor. Shift: the summand. LayerNorm: epsilon.
  double value = 0;
  /// Computed: the kind of table and its parameters.
  std::string table;
  WeightParameters parameters;
  /// Computed: a tensor whose values, if the files have it, become the parameter `frequencies`.
  WeightId frequencies = noWeight;
};

/// The weights of a model, with tensors in the order of a generated file.
class WeightList {
public:
  std::vector<WeightSpec> weights;

  const std::vector<int64_t> &shapeOf(WeightId id) const { return weights[id].shape; }

  /// Declares a tensor of the files and returns it; |aliases| are other names that files may have for it.
  WeightId tensor(std::string name, std::vector<int64_t> shape, std::vector<std::string> aliases = {});
  /// Adds |name| as another name of the tensor |id|: files of a model whose modules share a tensor may store it under
  /// the name of any of them.
  void addAlias(WeightId id, std::string name) { weights[id].aliases.push_back(std::move(name)); }
  /// Returns a constant filled with |value|.
  WeightId fill(std::string name, std::vector<int64_t> shape, double value);
  /// Returns a table of the kind |table| of `#xfmr.computed`.
  WeightId computed(std::string name, std::vector<int64_t> shape, std::string table, WeightParameters parameters);
  /// Returns the part of |id| with the indices |begin| … |end| - 1 of |axis|.
  WeightId slice(WeightId id, int64_t axis, int64_t begin, int64_t end);
  /// Returns the part of |id| with the indices |indices| of |axis|, in this order.
  WeightId select(WeightId id, int64_t axis, std::vector<int64_t> indices);
  /// Returns the matrix |id| transposed.
  WeightId transpose(WeightId id) { return permute(id, {1, 0}); }
  /// Returns the weight with permuted dimensions: dimension i of the result is dimension |permutation|[i] of the
  /// weight.
  WeightId permute(WeightId id, std::vector<int64_t> permutation);
  WeightId reshape(WeightId id, std::vector<int64_t> shape);
  WeightId scale(WeightId id, double factor);
  /// Returns the weight with |value| added to every element.
  WeightId shift(WeightId id, double value);
  /// Returns the weights joined along |axis|.
  WeightId concat(int64_t axis, std::vector<WeightId> ids);
  /// Returns the weights, all of one shape, stacked along a new first axis.
  WeightId stackWeights(std::vector<WeightId> ids);

  /// Returns `rows matrix^T + bias`; |bias| may be noWeight.
  WeightId project(WeightId rows, WeightId matrix, WeightId bias);
  /// Returns the matrix |rows| with each row normalized by a layer norm.
  WeightId layerNorm(WeightId rows, WeightId weight, WeightId bias, double epsilon);
  /// Returns the matrix |rows| with each row divided by its Euclidean length.
  WeightId unitRows(WeightId rows);

  /// Declares a tensor that files may have in place of others (setStandIn) or of a formula (`frequencies`).
  WeightId otherTensor(std::string name, std::vector<int64_t> shape);
  /// Sets the weight that replaces the tensor |id| if the files lack it.
  void setStandIn(WeightId id, WeightId standIn) { weights[id].standIn = standIn; }

  /// Returns the tensors of a generated weight file, in f32 and in the order of their declaration: all but stand-ins.
  std::vector<TensorSpec> tensors() const;

private:
  WeightId add(WeightSpec spec);
  /// Returns an expression over |id|, named by the name of |id| and |suffix|.
  WeightSpec over(WeightId id, WeightSpec::Kind kind, const std::string &suffix) const;
};

} // namespace attune

#endif // ATTUNE_IMPORT_WEIGHTSPEC_H
