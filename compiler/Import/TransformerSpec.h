//===- TransformerSpec.h - What a model computes, for all families -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A family (families/*.cpp) reads its config.json into this description; everything after that (checking weights, generating them, building
// IR) is the same for all. The order in which a family declares parameters is the order of a generated weight file.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_TRANSFORMERSPEC_H
#define ATTUNE_IMPORT_TRANSFORMERSPEC_H

#include "compiler/Import/Config.h"
#include "dialect/IR/XfmrOps.h"
#include "runtime/io/SafetensorsWriter.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace attune {

/// A parameter of the model: an index into TransformerSpec::parameters.
using ParameterId = int;
inline constexpr ParameterId noParameter = -1;

/// A tensor as the current version of the reference implementation names it.
struct Parameter {
  std::string name;
  std::vector<int64_t> shape;
  /// Another name of the same parameter, "" if there is none.
  std::string alias;
};

/// `x W^T + b`, W being `[out, in]`.
struct LinearSpec {
  ParameterId weight = noParameter;
  ParameterId bias = noParameter;
  /// Only the features [first, second), for outputs that share a projection.
  std::optional<std::pair<int64_t, int64_t>> features;
};

struct NormSpec {
  ParameterId weight = noParameter;
  ParameterId bias = noParameter;
  double epsilon = 0;
};

/// Word, token-type and position tables, summed in this order, then normalised.
struct EmbeddingSpec {
  std::string path;
  ParameterId words = noParameter;
  ParameterId types = noParameter;
  ParameterId positions = noParameter;
  std::optional<NormSpec> norm;
  double dropout = 0;
};

struct AttentionSpec {
  LinearSpec query, key, value, output;
  int64_t heads = 0;
  int64_t kvHeads = 0;
  double scale = 1;
};

struct FfnSpec {
  LinearSpec up, down;
  mlir::xfmr::Activation activation = mlir::xfmr::Activation::None;
};

/// Attention and feed-forward, each a residual branch with its norm.
struct LayerSpec {
  std::string path;
  AttentionSpec attention;
  NormSpec attentionNorm;
  FfnSpec ffn;
  NormSpec ffnNorm;
};

/// Where a layer's norms stand: `norm(x + f(x))` or `x + f(norm(x))`.
enum class NormPlacement { Post, Pre };

/// Layers that follow each other.
struct StackSpec {
  /// "encoder": layer functions are called "encoder_layer".
  std::string name;
  NormPlacement placement = NormPlacement::Post;
  double dropout = 0;
  std::vector<LayerSpec> layers;
};

/// One step from the last hidden state to an output.
struct HeadStep {
  enum Kind { Pool, Linear, Activation, Norm, Dropout };
  HeadStep(Kind kind, std::string path) : kind(kind), path(std::move(path)) {}

  Kind kind;
  std::string path;
  LinearSpec linear;
  NormSpec norm;
  mlir::xfmr::Activation activation = mlir::xfmr::Activation::None;
  mlir::xfmr::PoolKind pool = mlir::xfmr::PoolKind::First;
  double rate = 0;
};

/// Steps as expressions; |path| names the module in locations.
HeadStep poolStep(mlir::xfmr::PoolKind kind, std::string path);
HeadStep linearStep(LinearSpec linear, std::string path);
HeadStep activationStep(mlir::xfmr::Activation kind, std::string path);
HeadStep normStep(NormSpec norm, std::string path);
HeadStep dropoutStep(double rate, std::string path);

/// An output that is computed from the last hidden state.
struct OutputSpec {
  std::string name;
  std::vector<HeadStep> steps;
  /// Drop the last dimension, whose size is 1.
  bool squeeze = false;
};

/// What an input means.
enum class InputRole { TokenIds, TokenVectors, AttentionMask, TokenTypes, Positions, HeadMask };

struct InputSpec {
  std::string name;
  InputRole role;
  /// Valid ids are 0 … maxValue - 1; 0 for inputs that are not ids.
  int64_t maxValue = 0;
  /// Whether the input belongs to the default list.
  bool standard = true;
};

/// A model of any family.
struct TransformerSpec {
  std::string family;
  std::string architecture;
  /// Prefix of the base model's tensors ("bert."): files with and without it are understood.
  std::string basePrefix;
  int64_t hidden = 0;
  /// Largest padded length.
  int64_t maxLength = 0;
  std::vector<Parameter> parameters;
  std::vector<InputSpec> inputs;
  EmbeddingSpec embeddings;
  StackSpec encoder;
  /// The main outputs, in order.
  std::vector<OutputSpec> outputs;

  ParameterId declare(std::string name, std::vector<int64_t> shape, std::string alias = "");
  /// Declares NAME.weight `[out, in]` and NAME.bias.
  LinearSpec linear(const std::string &name, int64_t in, int64_t out);
  /// Declares NAME.weight and NAME.bias of |size| elements.
  NormSpec norm(const std::string &name, int64_t size, double epsilon);

  /// The tensors of a generated weight file.
  std::vector<TensorSpec> tensors() const;
};

/// Reads the description of any supported model.
Result<TransformerSpec> readTransformerSpec(const Config &config);

/// Reads the activation |key|, with the names of transformers' ACT2FN; records an error for one that is not implemented.
mlir::xfmr::Activation readActivation(ConfigReader &reader, const char *key, const char *fallback);

} // namespace attune

#endif // ATTUNE_IMPORT_TRANSFORMERSPEC_H
