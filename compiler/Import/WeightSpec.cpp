//===- WeightSpec.cpp - The constant tensors of a model -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/WeightSpec.h"

using namespace attune;

WeightId WeightList::add(WeightSpec spec) {
  weights.push_back(std::move(spec));
  return WeightId(weights.size()) - 1;
}

WeightSpec WeightList::over(WeightId id, WeightSpec::Kind kind, const std::string &suffix) const {
  WeightSpec spec;
  spec.kind = kind;
  spec.name = weights[id].name + suffix;
  spec.shape = weights[id].shape;
  spec.operands = {id};
  return spec;
}

WeightId WeightList::tensor(std::string name, std::vector<int64_t> shape, std::vector<std::string> aliases) {
  WeightSpec spec;
  spec.name = std::move(name);
  spec.shape = std::move(shape);
  spec.aliases = std::move(aliases);
  return add(std::move(spec));
}

WeightId WeightList::fill(std::string name, std::vector<int64_t> shape, double value) {
  WeightSpec spec;
  spec.kind = WeightSpec::Fill;
  spec.name = std::move(name);
  spec.shape = std::move(shape);
  spec.value = value;
  return add(std::move(spec));
}

WeightId WeightList::computed(std::string name, std::vector<int64_t> shape, std::string table, WeightParameters parameters) {
  WeightSpec spec;
  spec.kind = WeightSpec::Computed;
  spec.name = std::move(name);
  spec.shape = std::move(shape);
  spec.table = std::move(table);
  spec.parameters = std::move(parameters);
  return add(std::move(spec));
}

WeightId WeightList::slice(WeightId id, int64_t axis, int64_t begin, int64_t end) {
  std::string range = std::to_string(begin) + ":" + std::to_string(end);
  WeightSpec spec = over(id, WeightSpec::Slice, axis == 0 ? "[" + range + "]" : "[" + std::to_string(axis) + "=" + range + "]");
  spec.axis = axis;
  spec.indices = {begin, end};
  spec.shape[axis] = end - begin;
  return add(std::move(spec));
}

WeightId WeightList::select(WeightId id, int64_t axis, std::vector<int64_t> indices) {
  WeightSpec spec = over(id, WeightSpec::Select, ".selected");
  spec.axis = axis;
  spec.shape[axis] = int64_t(indices.size());
  spec.indices = std::move(indices);
  return add(std::move(spec));
}

WeightId WeightList::permute(WeightId id, std::vector<int64_t> permutation) {
  WeightSpec spec = over(id, WeightSpec::Transpose, ".transposed");
  for (size_t dim = 0; dim < permutation.size(); ++dim)
    spec.shape[dim] = weights[id].shape[permutation[dim]];
  spec.indices = std::move(permutation);
  return add(std::move(spec));
}

WeightId WeightList::reshape(WeightId id, std::vector<int64_t> shape) {
  WeightSpec spec = over(id, WeightSpec::Reshape, ".reshaped");
  spec.shape = std::move(shape);
  return add(std::move(spec));
}

WeightId WeightList::scale(WeightId id, double factor) {
  if (factor == 1)
    return id;
  WeightSpec spec = over(id, WeightSpec::Scale, ".scaled");
  spec.value = factor;
  return add(std::move(spec));
}

WeightId WeightList::shift(WeightId id, double value) {
  WeightSpec spec = over(id, WeightSpec::Shift, ".shifted");
  spec.value = value;
  return add(std::move(spec));
}

WeightId WeightList::concat(int64_t axis, std::vector<WeightId> ids) {
  WeightSpec spec = over(ids[0], WeightSpec::Concat, ".concat");
  spec.axis = axis;
  spec.shape[axis] = 0;
  for (WeightId id : ids)
    spec.shape[axis] += weights[id].shape[axis];
  spec.operands = std::move(ids);
  return add(std::move(spec));
}

WeightId WeightList::stackWeights(std::vector<WeightId> ids) {
  WeightSpec spec = over(ids[0], WeightSpec::Stack, ".stack");
  spec.shape.insert(spec.shape.begin(), int64_t(ids.size()));
  spec.operands = std::move(ids);
  return add(std::move(spec));
}

WeightId WeightList::otherTensor(std::string name, std::vector<int64_t> shape) {
  WeightId id = tensor(std::move(name), std::move(shape));
  weights[id].isStandIn = true;
  return id;
}

WeightId WeightList::project(WeightId rows, WeightId matrix, WeightId bias) {
  WeightSpec spec = over(matrix, WeightSpec::Project, ".projected");
  spec.shape = {weights[rows].shape[0], weights[matrix].shape[0]};
  spec.operands = {rows, matrix};
  if (bias != noWeight)
    spec.operands.push_back(bias);
  return add(std::move(spec));
}

WeightId WeightList::layerNorm(WeightId rows, WeightId weight, WeightId bias, double epsilon) {
  WeightSpec spec = over(rows, WeightSpec::LayerNorm, ".normalized");
  spec.operands = {rows, weight, bias};
  spec.value = epsilon;
  return add(std::move(spec));
}

WeightId WeightList::unitRows(WeightId rows) {
  WeightSpec spec = over(rows, WeightSpec::UnitRows, ".unit_rows");
  spec.operands = {rows};
  return add(std::move(spec));
}

std::vector<TensorSpec> WeightList::tensors() const {
  std::vector<TensorSpec> specs;
  for (const WeightSpec &spec : weights)
    if (spec.kind == WeightSpec::Tensor && !spec.isStandIn)
      specs.push_back({spec.name, DType::F32, spec.shape});
  return specs;
}
