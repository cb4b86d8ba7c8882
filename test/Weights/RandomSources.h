//===- RandomSources.h - Random expressions of weights ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_WEIGHTS_RANDOMSOURCES_H
#define ATTUNE_TEST_WEIGHTS_RANDOMSOURCES_H

#include "compiler/Weights/SourceReader.h"
#include "mlir/IR/Builders.h"

#include <cmath>
#include <random>

namespace attune {

/// Tensors of f32 without memory: element i of a tensor is value(name, i), but element 3 of the tensor |poisoned| is
/// NaN.
class FakeTensors : public TensorProvider {
public:
  static float value(std::string_view name, int64_t i) { return float(name.size() * 1000 + (i * 2654435761u) % 65521) / 7.0f; }
  std::string add(std::vector<int64_t> shape) {
    std::string name = "t" + std::string(specs.size(), 'x');
    specs.emplace(name, TensorSpec{name, DType::F32, shape});
    return name;
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
  std::string fileOf(std::string_view) const override { return "memory"; }
  Status read(std::string_view name, int64_t begin, int64_t count, float *out) const override {
    const TensorSpec *spec = find(name);
    int64_t size = 1;
    for (int64_t extent : spec->shape)
      size *= extent;
    if (begin < 0 || begin + count > size)
      return Status::error("read outside of " + std::string(name));
    for (int64_t i = 0; i < count; ++i)
      out[i] = name == poisoned && begin + i == 3 ? NAN : value(name, begin + i);
    return {};
  }
  std::string poisoned;

private:
  std::map<std::string, TensorSpec, std::less<>> specs;
};

/// Makes random weight sources over tensors that it adds to a FakeTensors.
class SourceGenerator {
public:
  SourceGenerator(mlir::MLIRContext &context, FakeTensors &tensors, unsigned seed)
      : context(context), builder(&context), tensors(tensors), random(seed) {}

  int64_t pick(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); }

  /// Returns a source of |rank| dimensions, an expression that is nested at most |depth| deep.
  mlir::Attribute source(int64_t rank, int depth);
  /// Returns a source that rounds or quantizes a random matrix, or derives scales or sums from it.
  mlir::Attribute lowPrecisionSource();
  /// Returns a source that projects the rows of a random matrix if |projected|, else one that normalizes them. The
  /// matrix is nested at most |depth| - 1 deep.
  mlir::Attribute ofRows(bool projected, int depth);

private:
  mlir::Attribute grouped(mlir::Attribute matrix, int64_t group);
  mlir::Attribute leaf(int64_t rank, bool fill);
  /// Returns a random shape of |rank| dimensions with |count| elements.
  std::vector<int64_t> reshape(int64_t count, int64_t rank);

  mlir::MLIRContext &context;
  mlir::Builder builder;
  FakeTensors &tensors;
  std::mt19937 random;
};

/// Returns the element of |source| at |index|, computed by the definition of the source.
float element(mlir::Attribute source, llvm::SmallVector<int64_t> index);

} // namespace attune

#endif // ATTUNE_TEST_WEIGHTS_RANDOMSOURCES_H
