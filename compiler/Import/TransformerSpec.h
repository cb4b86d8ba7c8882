//===- TransformerSpec.h - The description of a model of any family *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A family (families/*.cpp) reads its config.json into this description. All later steps (checking weights, generating
// them, building IR) are the same for all families. A model is one or two stacks of layers: an encoder, a decoder, or
// an encoder and a decoder with cross attention to the encoder's result.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_TRANSFORMERSPEC_H
#define ATTUNE_IMPORT_TRANSFORMERSPEC_H

#include "compiler/Import/Config.h"
#include "compiler/Import/StackSpec.h"

namespace attune {

/// One operation of a head, the part of a model that computes an output from the last hidden state.
struct HeadStep {
  enum Kind {
    Pool,
    Pools,
    FirstVisible,
    LastToken,
    LastVisible,
    LastEos,
    SelectedToken,
    Linear,
    Activation,
    Norm,
    Dropout,
    Softmax,
    Scale,
    Softcap
  };
  HeadStep(Kind kind, std::string path) : kind(kind), path(std::move(path)) {}

  Kind kind;
  std::string path;
  LinearSpec linear;
  NormSpec norm;
  mlir::xfmr::Activation activation = mlir::xfmr::Activation::None;
  mlir::xfmr::PoolKind pool = mlir::xfmr::PoolKind::First;
  /// Pools: the reductions whose rows are joined.
  std::vector<mlir::xfmr::PoolKind> pools;
  double rate = 0;
  /// Scale: the factor. Softcap: the limit.
  double factor = 1;
  /// LastToken, LastVisible: the padding id.
  std::optional<int64_t> padding;
  /// LastEos: the id to find.
  int64_t eosId = 0;
};

/// The following functions return steps; |path| names the module in locations. poolStep reduces each sequence to one
/// row: First selects its first row, Mean computes the mean of the rows that the mask shows. Other kinds are for
/// poolsStep.
HeadStep poolStep(mlir::xfmr::PoolKind kind, std::string path);
/// Reduces each sequence to one row: the rows of all |kinds|, side by side. Each kind pools the tokens that the mask
/// shows, except the first ones of the sequence, whose number the input PromptLength gives.
HeadStep poolsStep(std::vector<mlir::xfmr::PoolKind> kinds, std::string path);
/// Selects in each sequence the first row that the mask shows; the first row if the mask shows none or is not an input.
HeadStep firstVisibleStep(std::string path);
/// Selects row c - 1 of each sequence, where c is the number of its ids that are not |padding|; the last row if c is 0,
/// there are no ids or |padding| is empty.
HeadStep lastTokenStep(std::optional<int64_t> padding, std::string path);
/// Selects in each sequence the row of the last token whose id is not |padding|; the first row if all are |padding|,
/// the last row if there are no ids or |padding| is empty.
HeadStep lastVisibleStep(std::optional<int64_t> padding, std::string path);
/// Selects in each sequence the row at the position of the last |eosId| in the encoder's ids; the last row if they have
/// none.
HeadStep lastEosStep(int64_t eosId, std::string path);
/// Selects in each sequence the row at the position that the input TargetToken gives; the last row without this input.
HeadStep selectedTokenStep(std::string path);
HeadStep linearStep(LinearSpec linear, std::string path);
HeadStep activationStep(mlir::xfmr::Activation kind, std::string path);
HeadStep normStep(NormSpec norm, std::string path);
HeadStep dropoutStep(double rate, std::string path);
HeadStep softmaxStep(std::string path);
/// Multiplies every element by |factor|.
HeadStep scaleStep(double factor, std::string path);
/// Replaces every element x by `limit * tanh(x / limit)`.
HeadStep softcapStep(double limit, std::string path);

struct TransformerSpec;
/// Declares the outputs `start_logits` and `end_logits`, the two features of |both| for every token.
void declareStartAndEnd(TransformerSpec &spec, const LinearSpec &both);

/// Returns true if |step| reads the mask of tokens.
inline bool readsMask(const HeadStep &step) {
  return step.kind == HeadStep::Pools || step.kind == HeadStep::FirstVisible ||
         (step.kind == HeadStep::Pool && step.pool == mlir::xfmr::PoolKind::Mean);
}

/// The role of a stack in a model.
enum class StackRole { Encoder, Decoder };

/// An output that is computed from the result of a stack, by default the main stack: the decoder if there is one.
struct OutputSpec {
  std::string name;
  std::vector<HeadStep> steps;
  /// True if the last dimension, whose size is 1, is removed.
  bool squeeze = false;
  std::optional<StackRole> stack = {};
};

/// The meaning of an input.
enum class InputRole {
  TokenIds,
  TokenVectors,
  Image,
  AttentionMask,
  TokenTypes,
  TaskTypes,
  Positions,
  /// For each token the left, upper, right and lower side of its box on a page.
  Boxes,
  HeadMask,
  /// For each sequence the position of the token from which outputs are computed.
  TargetToken,
  /// For each sequence the number of its first tokens that pooling skips.
  PromptLength,
  /// The head mask of cross attention.
  CrossHeadMask,
  /// The encoder's result, computed elsewhere; replaces the encoder's tokens.
  EncoderResult,
  /// The states from which cross attention computes keys and, without MemoryValues, also values.
  Memory,
  MemoryValues,
  MemoryMask,
  /// Keys or values of tokens before those of the call, or of cross attention.
  PastKeyValues
};

struct InputSpec {
  std::string name;
  InputRole role;
  /// The values of an integer input are 0 … maxValue - 1; 0 for no limit. Integer masks are 0 or 1 in any case.
  int64_t maxValue = 0;
  /// True if the input is one of those that an entry has by default, when the user does not list inputs.
  bool standard = true;
  /// The stack that reads the input; for memory the decoder.
  StackRole stack = StackRole::Encoder;
  /// For a mask, true if the standard form is additive, `[batch, 1, 1, keys]` of floats.
  bool additive = false;
  /// For positions, token types, task types and masks, true if there is no default, because the model without the input
  /// computes something else than with zeros, ones or 0, 1, 2, ….
  bool required = false;
  /// Keys and values: the number of the layer times the number of tensors of a layer (StackSpec::cachedParts), plus the
  /// number of the tensor in its layer.
  int64_t member = 0;
  /// For a mask, true if its forms of rank below 4 have the last dimensions of `[batch, heads, queries, keys]`, and so
  /// do not begin with the batch.
  bool broadcast = false;
};

/// Returns true if |input| hides keys of self-attention or cross attention.
inline bool isMask(const InputSpec &input) { return input.role == InputRole::AttentionMask || input.role == InputRole::MemoryMask; }

/// The rule that makes the decoder's ids from the encoder's if they are not an input: moves the encoder's ids one
/// position on, drops the last and sets the first.
struct ShiftedIdsSpec {
  /// The first id, unless |padding| has a value.
  int64_t start = 0;
  /// If it has a value, the first id is the encoder's id at position c - 1 of the sequence, where c is the number of
  /// ids of the sequence that are not |padding|.
  std::optional<int64_t> padding;
};

/// A model of any family.
struct TransformerSpec : WeightList {
  std::string family;
  std::string architecture;
  /// A warning for users of the model, a line; "" if there is none.
  std::string warning;
  /// The prefix of the base model's tensors ("bert."). Files with and without it are accepted.
  std::string basePrefix;
  std::vector<InputSpec> inputs;
  std::optional<StackSpec> encoder, decoder;
  /// The rule for the decoder's ids if they are not an input; if empty, they are a required input.
  std::optional<ShiftedIdsSpec> shiftedIds;
  /// True if a row of the batch has several sequences, its choices: the dimensions of inputs are `[batch, choices,
  /// length]`, and those of outputs begin likewise.
  bool choices = false;
  /// True if the encoder's head mask applies to the decoder, too, when the decoder has none of its own.
  bool sharesHeadMask = false;
  /// True if the sequences of encoder and decoder have the same lengths.
  bool equalLengths = false;
  /// The main outputs, in order.
  std::vector<OutputSpec> outputs;
  /// The output of the entry `embed`, if the folder says how the vectors of a text's tokens become one vector.
  std::optional<OutputSpec> embedding;
  /// True if pooling in the entry `embed` skips the tokens of the prompt; the entry then has an input of the role
  /// PromptLength.
  bool embeddingSkipsPrompt = false;
  /// The number of classes in the output `logits`, 0 if it has no scores of classes, and the names of the classes in
  /// the order of their scores.
  int64_t classes = 0;
  std::vector<std::string> labels;

  /// Returns the number of components of a key of |attention|; valueSize returns that of a value.
  int64_t keySize(const AttentionSpec &attention) const {
    bool isShared = attention.sharedKey.weight != noWeight;
    return shapeOf(attention.key.weight)[0] / attention.kvHeads + (isShared ? shapeOf(attention.sharedKey.weight)[0] : 0);
  }
  int64_t valueSize(const AttentionSpec &attention) const { return shapeOf(attention.value.weight)[0] / attention.kvHeads; }
  /// Returns the stack |role|, which must exist.
  const StackSpec &stack(StackRole role) const { return role == StackRole::Encoder ? *encoder : *decoder; }
  /// Returns the role of the stack from whose result outputs are computed by default.
  StackRole mainStack() const { return decoder ? StackRole::Decoder : StackRole::Encoder; }
  /// Returns the name of the dimension of inputs that is the padded length of the stack |role|.
  const char *lengthDim(StackRole role) const {
    return hasTwoStacks() && !equalLengths && role == StackRole::Encoder ? "source_length" : "length";
  }
  /// Returns true if the model has an encoder and a decoder. The groups of outputs `hidden_states` and `attentions`
  /// then have the stack in front of their names, as "decoder_hidden_states"; the other groups do not.
  bool hasTwoStacks() const { return encoder && decoder; }

  /// Declares NAME.weight `[out, in]` and, unless |bias| is false, NAME.bias.
  LinearSpec linear(const std::string &name, int64_t in, int64_t out, bool bias = true);
  /// Declares a projection to the scores of |labels| classes, as linear does, and sets |classes|.
  LinearSpec classifier(const std::string &name, int64_t in, int64_t labels, bool bias = true);
  /// Declares NAME.weight `[in, out]`, which the projection reads transposed, and NAME.bias.
  LinearSpec transposedLinear(const std::string &name, int64_t in, int64_t out);
  /// Declares NAME as linear does. Files may have a projection for each of |parts| instead: joined in this order, they
  /// are NAME; each has an equal share of its |out| features.
  LinearSpec joinedLinear(const std::string &name, const std::vector<std::string> &parts, int64_t in, int64_t out, bool bias);
  /// Adds |name| as another name that |part|, a projection or a norm, may have in files.
  template <typename Spec>
  void addName(const Spec &part, const std::string &name) {
    addAlias(part.weight, name + ".weight");
    if (part.bias != noWeight)
      addAlias(part.bias, name + ".bias");
  }
  /// Declares NAME.weight and NAME.bias of |size| elements: a layer norm.
  NormSpec norm(const std::string &name, int64_t size, double epsilon);
  /// Declares NAME.weight of |size| elements: an RMS norm.
  NormSpec rmsNorm(const std::string &name, int64_t size, double epsilon);
  /// Declares NAME.weight of |size| elements: an RMS norm whose factors are 1 + weight.
  NormSpec shiftedRmsNorm(const std::string &name, int64_t size, double epsilon);
  /// Declares NAME.weight and NAME.bias of |size| elements: a layer norm whose factors are 1 + weight.
  NormSpec shiftedNorm(const std::string &name, int64_t size, double epsilon);
  /// Declares NAME.weight of |size| elements: a layer norm without bias.
  NormSpec normWithoutBias(const std::string &name, int64_t size, double epsilon);
  /// Returns a layer norm of |size| features without weights; NAME names its constants.
  NormSpec plainNorm(const std::string &name, int64_t size, double epsilon);
  /// Declares NAME.weight `[heads, size]`: layer norms of heads without biases, each head with its own weights.
  HeadNormSpec headNorm(const std::string &name, int64_t heads, int64_t size, double epsilon);
  /// Declares the same norms as one tensor for each head H, NAME.H.weight `[size]`.
  HeadNormSpec separateHeadNorm(const std::string &name, int64_t heads, int64_t size, double epsilon);
  /// Gives |linear|, whose name is |name|, a bias of zeros, for feed-forwards: either all of their projections have a
  /// bias or none has.
  void addZeroBias(LinearSpec &linear, const std::string &name);
  /// Returns the projection to the output features [begin, end) of |linear|.
  LinearSpec features(const LinearSpec &linear, int64_t begin, int64_t end);
  /// Sets the projections of queries, keys and values to parts of |joined|, whose rows are `[heads, 3, head size]`: for
  /// each head its query, its key and its value.
  void splitByHead(AttentionSpec &attention, const LinearSpec &joined, int64_t heads) { splitByGroup(attention, joined, heads, heads); }
  /// Does the same for rows `[kvHeads, heads / kvHeads + 2, head size]`: for each key head, its query heads, the key
  /// head and the value head.
  void splitByGroup(AttentionSpec &attention, const LinearSpec &joined, int64_t heads, int64_t kvHeads);
  /// Does the same for rows `[heads + 2 * kvHeads, head size]`: all query heads, then all key heads, then all value
  /// heads.
  void splitByPart(AttentionSpec &attention, const LinearSpec &joined, int64_t heads, int64_t kvHeads);
  /// Returns |linear| with its weight and its bias multiplied by |factor|.
  LinearSpec scaled(const LinearSpec &linear, double factor);
};

/// The name of the group of inputs and outputs with keys and values; a member is "past_key_values.LAYER.PART".
inline constexpr const char *pastGroup = "past_key_values";

/// Declares inputs for the keys and values of earlier tokens and of cross attention, for models whose `past_key_values`
/// have them; removes other inputs of this role.
void declarePast(TransformerSpec &spec);

/// Reads the activation |key|, with the names of transformers' ACT2FN. Records an error for a name that is not
/// implemented, and returns None.
mlir::xfmr::Activation readActivation(ConfigReader &reader, const char *key, const char *fallback);
/// Returns the activation |name|, the value of |key|; handles an unknown name as readActivation does. |more| continues
/// the list of accepted values in the message, with other values that the key may have.
mlir::xfmr::Activation readActivationName(ConfigReader &reader, const char *key, const std::string &name, const char *more = "");

} // namespace attune

#endif // ATTUNE_IMPORT_TRANSFORMERSPEC_H
