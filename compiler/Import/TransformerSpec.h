//===- TransformerSpec.h - What a model computes, for all families -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A family (families/*.cpp) reads its config.json into this description; everything after that (checking weights, generating them, building
// IR) is the same for all. A model is one or two stacks of layers: an encoder, a decoder, or an encoder whose result a decoder attends to.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_TRANSFORMERSPEC_H
#define ATTUNE_IMPORT_TRANSFORMERSPEC_H

#include "compiler/Import/Config.h"
#include "compiler/Import/StackSpec.h"

namespace attune {

/// One step from the last hidden state to an output.
struct HeadStep {
  enum Kind { Pool, FirstVisible, LastToken, LastVisible, LastEnd, GivenToken, Linear, Activation, Norm, Dropout, Softmax, Scale, Softcap };
  HeadStep(Kind kind, std::string path) : kind(kind), path(std::move(path)) {}

  Kind kind;
  std::string path;
  LinearSpec linear;
  NormSpec norm;
  mlir::xfmr::Activation activation = mlir::xfmr::Activation::None;
  mlir::xfmr::PoolKind pool = mlir::xfmr::PoolKind::First;
  double rate = 0;
  /// Scale: the factor. Softcap: the limit.
  double factor = 1;
  /// LastToken, LastVisible: the id of padding.
  std::optional<int64_t> padding;
  /// LastEnd: the id that is looked for.
  int64_t end = 0;
};

/// Steps as expressions; |path| names the module in locations.
/// The first row of each sequence, or the mean of those that the mask shows.
HeadStep poolStep(mlir::xfmr::PoolKind kind, std::string path);
/// The first row of each sequence that the mask shows; the first of all where it shows none.
HeadStep firstVisibleStep(std::string path);
/// The row of each sequence's token number c - 1, c being how many ids are not |padding|; of the last where no ids or no padding are known.
HeadStep lastTokenStep(std::optional<int64_t> padding, std::string path);
/// The row of each sequence's last token whose id is not |padding|; of the last token where no ids or no padding are known.
HeadStep lastVisibleStep(std::optional<int64_t> padding, std::string path);
/// The row of each sequence's place where the encoder's ids have the last |end|.
HeadStep lastEndStep(int64_t end, std::string path);
/// The row of each sequence's place that an input says; of the last where there is none.
HeadStep givenTokenStep(std::string path);
HeadStep linearStep(LinearSpec linear, std::string path);
HeadStep activationStep(mlir::xfmr::Activation kind, std::string path);
HeadStep normStep(NormSpec norm, std::string path);
HeadStep dropoutStep(double rate, std::string path);
HeadStep softmaxStep(std::string path);
/// Every element times |factor|.
HeadStep scaleStep(double factor, std::string path);
/// `limit * tanh(x / limit)` of every element x.
HeadStep softcapStep(double limit, std::string path);

struct TransformerSpec;
/// Declares the outputs `start_logits` and `end_logits`, the two features of |both| for every token.
void declareStartAndEnd(TransformerSpec &spec, const LinearSpec &both);

/// Returns true if |step| reads the mask of tokens.
inline bool readsMask(const HeadStep &step) {
  return step.kind == HeadStep::FirstVisible || (step.kind == HeadStep::Pool && step.pool == mlir::xfmr::PoolKind::Mean);
}

/// Which stack something belongs to.
enum class StackRole { Encoder, Decoder };

/// An output that is computed from the result of a stack: that of the model (the decoder's if it has one) unless said otherwise.
struct OutputSpec {
  std::string name;
  std::vector<HeadStep> steps;
  /// Drop the last dimension, whose size is 1.
  bool squeeze = false;
  std::optional<StackRole> stack = {};
};

/// What an input means.
enum class InputRole {
  TokenIds,
  TokenVectors,
  Image,
  AttentionMask,
  TokenTypes,
  Positions,
  /// For each token the left, upper, right and lower side of its box on a page.
  Boxes,
  HeadMask,
  /// For each sequence the place of the token that an output is about.
  TokenPlace,
  /// The head mask of cross attention.
  CrossHeadMask,
  /// The encoder's result, computed elsewhere; takes the place of its tokens.
  EncoderResult,
  /// What cross attention takes keys from, and values unless there is another input for them.
  Memory,
  MemoryValues,
  MemoryMask,
  /// Keys or values of tokens before those of the call, or of the memory.
  PastKeyValues
};

struct InputSpec {
  std::string name;
  InputRole role;
  /// Valid ids are 0 … maxValue - 1; 0 for inputs that are not ids. Integer masks are 0 or 1 whatever this says.
  int64_t maxValue = 0;
  /// Whether the input belongs to the default list.
  bool standard = true;
  /// The stack it goes into; memory goes into the decoder.
  StackRole stack = StackRole::Encoder;
  /// Mask: the standard form is one of numbers that are added to the scores, `[batch, 1, 1, keys]`.
  bool additive = false;
  /// Positions, token types and masks: what the model does without them is not what zeros, ones or a count would do, so nothing can be
  /// filled in.
  bool required = false;
  /// Keys and values: the layer times the parts of a layer, plus the part.
  int64_t member = 0;
  /// Mask: of a rank below 4 it has the last dimensions of `[batch, heads, queries, keys]`, not those of a batch.
  bool broadcast = false;
};

/// Whether |input| says which keys of attention, or of cross attention, are seen.
inline bool isMask(const InputSpec &input) { return input.role == InputRole::AttentionMask || input.role == InputRole::MemoryMask; }

/// The ids of a decoder that is given none: those of the encoder, one place later, the last one left out.
struct ShiftedIdsSpec {
  /// The first id, unless |padding| has a value.
  int64_t start = 0;
  /// The first id is the encoder's id number c - 1 of the sequence, c being how many ids are not this one.
  std::optional<int64_t> padding;
};

/// A model of any family.
struct TransformerSpec : WeightList {
  std::string family;
  std::string architecture;
  /// Prefix of the base model's tensors ("bert."): files with and without it are understood.
  std::string basePrefix;
  std::vector<InputSpec> inputs;
  std::optional<StackSpec> encoder, decoder;
  /// The ids of the decoder where no input gives them; without it they are required.
  std::optional<ShiftedIdsSpec> shiftedIds;
  /// A row of the batch is several sequences, its choices: inputs are `[batch, choices, length]`, and outputs begin so.
  bool choices = false;
  /// The encoder's head mask is that of the decoder, too, where this has none of its own.
  bool sharesHeadMask = false;
  /// Sequences of encoder and decoder have the same lengths.
  bool equalLengths = false;
  /// The main outputs, in order.
  std::vector<OutputSpec> outputs;
  /// The number of classes that the output `logits` scores, 0 if it scores none, and their names in this order.
  int64_t classes = 0;
  std::vector<std::string> labels;

  /// The stack of |role|, which must exist.
  const StackSpec &stack(StackRole role) const { return role == StackRole::Encoder ? *encoder : *decoder; }
  /// The stack whose result the model's outputs are made of.
  StackRole mainStack() const { return decoder ? StackRole::Decoder : StackRole::Encoder; }
  /// The dim of the padded length of a stack.
  const char *lengthDim(StackRole role) const {
    return hasTwoStacks() && !equalLengths && role == StackRole::Encoder ? "source_length" : "length";
  }
  /// Whether names of groups say which stack they belong to ("decoder_hidden_states").
  bool hasTwoStacks() const { return encoder && decoder; }

  /// Declares NAME.weight `[out, in]` and, unless |bias| is false, NAME.bias.
  LinearSpec linear(const std::string &name, int64_t in, int64_t out, bool bias = true);
  /// The same for the projection to the scores of |labels| classes.
  LinearSpec classifier(const std::string &name, int64_t in, int64_t labels, bool bias = true);
  /// Declares NAME.weight `[in, out]` and NAME.bias.
  LinearSpec transposedLinear(const std::string &name, int64_t in, int64_t out);
  /// Declares NAME as linear does; files may have projections |parts| of equal sizes in its place, the first features first.
  LinearSpec joinedLinear(const std::string &name, const std::vector<std::string> &parts, int64_t in, int64_t out, bool bias);
  /// Says that files may call the projection or norm |name|, too.
  template <typename Spec>
  void addName(const Spec &part, const std::string &name) {
    addAlias(part.weight, name + ".weight");
    if (part.bias != noWeight)
      addAlias(part.bias, name + ".bias");
  }
  /// Declares NAME.weight and NAME.bias of |size| elements.
  NormSpec norm(const std::string &name, int64_t size, double epsilon);
  /// Declares NAME.weight of |size| elements: a norm without bias.
  NormSpec rmsNorm(const std::string &name, int64_t size, double epsilon);
  /// Declares NAME.weight of |size| elements: an RMS norm whose factors are 1 + weight.
  NormSpec shiftedRmsNorm(const std::string &name, int64_t size, double epsilon);
  /// Declares NAME.weight of |size| elements: a layer norm without bias.
  NormSpec normWithoutBias(const std::string &name, int64_t size, double epsilon);
  /// A layer norm of |size| features without weights; NAME names its constants.
  NormSpec plainNorm(const std::string &name, int64_t size, double epsilon);
  /// Declares NAME.weight `[heads, size]`: layer norms of heads without biases, each with weights of its own.
  HeadNormSpec headNorm(const std::string &name, int64_t heads, int64_t size, double epsilon);
  /// The same of tensors of their own for each head, NAME.H.weight `[size]`.
  HeadNormSpec separateHeadNorm(const std::string &name, int64_t heads, int64_t size, double epsilon);
  /// Gives |linear|, which is called |name|, a bias of zeros: those of a feed-forward come together.
  void addZeroBias(LinearSpec &linear, const std::string &name);
  /// Features [begin, end) of |linear|.
  LinearSpec features(const LinearSpec &linear, int64_t begin, int64_t end);
  /// Makes the projections of queries, keys and values of |joined|, whose rows are `[heads, 3, head size]`.
  void splitByHead(AttentionSpec &attention, const LinearSpec &joined, int64_t heads) { splitByGroup(attention, joined, heads, heads); }
  /// The same of rows `[kvHeads, heads / kvHeads + 2, head size]`: for each head of keys its heads of queries, itself, and that of values.
  void splitByGroup(AttentionSpec &attention, const LinearSpec &joined, int64_t heads, int64_t kvHeads);
  /// The same of rows `[heads + 2 * kvHeads, head size]`: all heads of queries, then those of keys, then those of values.
  void splitByPart(AttentionSpec &attention, const LinearSpec &joined, int64_t heads, int64_t kvHeads);
  /// |linear| times |factor|.
  LinearSpec scaled(const LinearSpec &linear, double factor);
};

/// The name of the inputs and outputs that are kept keys and values, "past_key_values.LAYER.PART".
inline constexpr const char *pastGroup = "past_key_values";

/// Declares the inputs that give the keys and values of earlier tokens, of models that give theirs out; others of this kind go.
void declarePast(TransformerSpec &spec);

/// Reads the activation |key|, with the names of transformers' ACT2FN; records an error for one that is not implemented.
mlir::xfmr::Activation readActivation(ConfigReader &reader, const char *key, const char *fallback);
/// The activation called |name|, which is what |key| says; |more| is what messages say of other values that the key may have.
mlir::xfmr::Activation readActivationName(ConfigReader &reader, const char *key, const std::string &name, const char *more = "");

} // namespace attune

#endif // ATTUNE_IMPORT_TRANSFORMERSPEC_H
