//===- TransformerSpec.cpp - What a model computes, for all families ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/TransformerSpec.h"

#include "compiler/Import/families/Families.h"

using namespace attune;
using mlir::xfmr::Activation;

ParameterId TransformerSpec::declare(std::string name, std::vector<int64_t> shape, std::string alias) {
  parameters.push_back({std::move(name), std::move(shape), std::move(alias)});
  return ParameterId(parameters.size()) - 1;
}

LinearSpec TransformerSpec::linear(const std::string &name, int64_t in, int64_t out) {
  LinearSpec spec;
  spec.weight = declare(name + ".weight", {out, in});
  spec.bias = declare(name + ".bias", {out});
  return spec;
}

NormSpec TransformerSpec::norm(const std::string &name, int64_t size, double epsilon) {
  NormSpec spec;
  spec.weight = declare(name + ".weight", {size});
  spec.bias = declare(name + ".bias", {size});
  spec.epsilon = epsilon;
  return spec;
}

std::vector<TensorSpec> TransformerSpec::tensors() const {
  std::vector<TensorSpec> specs;
  for (const Parameter &parameter : parameters)
    specs.push_back({parameter.name, DType::F32, parameter.shape});
  return specs;
}

HeadStep attune::poolStep(mlir::xfmr::PoolKind kind, std::string path) {
  HeadStep step(HeadStep::Pool, std::move(path));
  step.pool = kind;
  return step;
}

HeadStep attune::linearStep(LinearSpec linear, std::string path) {
  HeadStep step(HeadStep::Linear, std::move(path));
  step.linear = linear;
  return step;
}

HeadStep attune::activationStep(Activation kind, std::string path) {
  HeadStep step(HeadStep::Activation, std::move(path));
  step.activation = kind;
  return step;
}

HeadStep attune::normStep(NormSpec norm, std::string path) {
  HeadStep step(HeadStep::Norm, std::move(path));
  step.norm = norm;
  return step;
}

HeadStep attune::dropoutStep(double rate, std::string path) {
  HeadStep step(HeadStep::Dropout, std::move(path));
  step.rate = rate;
  return step;
}

Activation attune::readActivation(ConfigReader &reader, const char *key, const char *fallback) {
  static constexpr std::pair<const char *, Activation> table[] = {
      {"gelu", Activation::Gelu},          {"gelu_python", Activation::Gelu},
      {"gelu_new", Activation::GeluTanh},  {"gelu_pytorch_tanh", Activation::GeluTanh},
      {"gelu_fast", Activation::GeluTanh}, {"relu", Activation::Relu},
      {"silu", Activation::Silu},          {"swish", Activation::Silu},
      {"tanh", Activation::Tanh},
  };
  std::string name = reader.string(key, fallback);
  std::string expected = "one of ";
  for (const auto &[known, activation] : table) {
    if (name == known)
      return activation;
    expected += (expected.size() > 7 ? ", " : "") + std::string(known);
  }
  reader.fail(key, expected);
  return Activation::None;
}

Result<TransformerSpec> attune::readTransformerSpec(const Config &config) {
  static constexpr std::pair<const char *, Result<TransformerSpec> (*)(const Config &)> families[] = {
      {"bert", readBertSpec},
  };
  ConfigReader reader(config);
  std::string type = reader.string("model_type");
  std::string expected;
  for (const auto &[name, read] : families) {
    if (type == name && !reader.status().failed())
      return read(config);
    expected += (expected.empty() ? "" : ", ") + std::string(name);
  }
  reader.fail("model_type", expected);
  return reader.status();
}
