//===- StackSpec.h - What a stack of layers computes ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_STACKSPEC_H
#define ATTUNE_IMPORT_STACKSPEC_H

#include "compiler/Import/WeightSpec.h"
#include "dialect/Xfmr/IR/XfmrOps.h"

#include <optional>

namespace attune {

/// `x W^T + b`, W being `[out, in]`.
struct LinearSpec {
  WeightId weight = noWeight;
  WeightId bias = noWeight;
};

/// A layer norm; without bias the division by the root mean square. Without weight there is no norm.
struct NormSpec {
  WeightId weight = noWeight;
  WeightId bias = noWeight;
  double epsilon = 0;

  explicit operator bool() const { return weight != noWeight; }
};

/// A norm of queries or keys before their rotary embedding.
struct HeadNormSpec {
  /// Heads: of each head, weights `[head size]`. Projection: of all heads together, weights `[heads * head size]`.
  enum Extent { Heads, Projection };

  NormSpec norm;
  Extent extent = Heads;
  /// `[heads * head size]`: factors after a norm of heads whose weights differ from head to head.
  WeightId factors = noWeight;
};

/// An image `[channels, height, width]` as patches, each projected like a token; a class token comes first.
struct PatchSpec {
  int64_t channels = 0, height = 0, width = 0, patchHeight = 0, patchWidth = 0;
  /// From the elements of a patch, channel by channel.
  LinearSpec projection;
  /// `[2, hidden]`: the class token, then zeros.
  WeightId classTable = noWeight;

  int64_t rows() const { return height / patchHeight; }
  int64_t columns() const { return width / patchWidth; }
  /// Patches and the class token.
  int64_t tokens() const { return rows() * columns() + 1; }
};

/// Tables of positions on a page `[positions, hidden]`, of which a token gets those of the sides, the height and the width of its box.
struct BoxSpec {
  WeightId x = noWeight, y = noWeight, height = noWeight, width = noWeight;
};

/// Masked tokens as dropped ones: their word vectors are zero, and the others are multiplied by `kept / (1 - masked)`, masked being their
/// share of the tokens that the mask shows.
struct TokenDropoutSpec {
  int64_t maskId = 0;
  double kept = 1;
};

/// Word, token-type and position tables, summed in this order, then normalised. What is absent is not added.
struct EmbeddingSpec {
  std::string path;
  WeightId words = noWeight;
  WeightId types = noWeight;
  WeightId positions = noWeight;
  /// The padding id where positions that no input gives are counted over the other tokens, as `xfmr.counted_positions` does.
  std::optional<int64_t> countedAfter;
  /// `countedAfter` is the position of hidden tokens: positions are counted over the tokens that the mask shows, those of earlier calls
  /// included, instead of over ids. Positions that an input gives begin at 0 then, that is at the row `countedAfter` + 1.
  bool countsMask = false;
  /// Token types are added only where an input gives them, and not zeros otherwise.
  bool typesIfGiven = false;
  /// Every token gets the first position.
  bool onePosition = false;
  std::optional<PatchSpec> patches;
  std::optional<BoxSpec> boxes;
  std::optional<TokenDropoutSpec> tokenDropout;
  /// Factor of word vectors, and whether given vectors (`inputs_embeds`) are multiplied by it, too.
  double scale = 1;
  bool scalesGivenVectors = false;
  /// From the features of words, given vectors included, to those that positions are added to.
  LinearSpec wordProjection;
  std::optional<NormSpec> norm;
  /// The norm is of words alone, before types and positions are added.
  bool normsWords = false;
  /// From the features of the tables to those of the stack, after the norm or before it.
  LinearSpec projection;
  bool projectsBeforeNorm = false;
  /// The rows of tokens that the mask hides are zero.
  bool zeroesHidden = false;
  double dropout = 0;
};

struct AttentionSpec {
  LinearSpec query, key, value;
  /// Without it the joined heads are the result.
  LinearSpec output;
  int64_t heads = 0;
  int64_t kvHeads = 0;
  double scale = 1;
  /// No token attends to later ones.
  bool causal = false;
  /// A mask of queries by keys takes the place of `causal`.
  bool pairsReplaceCausal = false;
  /// The most tokens by which a visible key is before or after its query.
  std::optional<int64_t> windowLeft, windowRight;
  /// Scores s become `softcap * tanh(s / softcap)`.
  std::optional<double> softcap;
  /// Projected queries, keys and values are clamped to [-clip, clip].
  std::optional<double> clip;
  HeadNormSpec queryNorm, keyNorm;
  /// `[heads]`: scores of keys whose values are zeros (attention sinks); queries without a visible key then give zeros.
  WeightId sinks = noWeight;
  /// What a query without a visible key gives.
  mlir::xfmr::MaskedRows maskedRows = mlir::xfmr::MaskedRows::Uniform;
  /// `[positions, R]`: cosines and sines by which queries and keys are turned.
  WeightId rotary = noWeight;
  /// Rotary embeddings turn neighbouring components; otherwise those half of the turned components apart.
  bool interleaved = false;
  /// `[2 N - 1, head size]` or `[2 N - 1, heads * head size]`: for each distance of a key a vector, or one for each head, that is
  /// multiplied with queries, and one that is multiplied with keys.
  WeightId relativeKey = noWeight, relativeQuery = noWeight;
  /// Where heads have been removed: their number before that, and the numbers of those that are left.
  int64_t originalHeads = 0;
  std::vector<int64_t> headNumbers;
};

/// Two projections with an activation between them, or three: the activation is then of `gate`, whose product with `up` goes down.
struct FfnSpec {
  LinearSpec up, down, gate;
  mlir::xfmr::Activation activation = mlir::xfmr::Activation::None;
};

/// What the distances of keys add to the scores of an attention of a stack to itself: a table `[buckets, heads]`, or slopes `[heads]` times
/// minus the distance (ALiBi).
struct DistanceBiasSpec {
  WeightId table = noWeight;
  /// True if later keys have buckets of their own, not that of the distance 0.
  bool bidirectional = false;
  int64_t maxDistance = 0;
  WeightId slopes = noWeight;
};

/// Feed-forward networks of which each token uses those that a projection of it scores highest, each times its share.
struct ExpertsSpec {
  /// From a token to the scores of the experts.
  LinearSpec router;
  int64_t chosen = 0;
  /// Shares are the softmax of the chosen scores, and not of all.
  bool normalized = false;
  /// Stacks of matrices `[experts, out, in]` and of biases `[experts, out]`.
  FfnSpec networks;
  /// The limit and the factor alpha of `xfmr.clamped_glu`, in place of the activation.
  struct ClampedGlu {
    double limit, alpha;
  };
  std::optional<ClampedGlu> clampedGlu;
  /// A network that all tokens use, times the sigmoid of a projection of the token to one number.
  std::optional<FfnSpec> shared;
  LinearSpec sharedGate;
};

/// Up to three branches in this order, each with its norm. In a stack of `NormPlacement::Pre` a branch may have no norm of its input, and
/// may have one of its result: `x + resultNorm(f(norm(x)))`. In a stack of `NormPlacement::Post` it may have one of its sum, to which the
/// residual is added again: `norm(x + resultNorm(x + f(x)))`.
struct LayerSpec {
  std::string path;
  std::optional<AttentionSpec> attention;
  NormSpec attentionNorm, attentionResultNorm;
  /// Attention to another sequence.
  std::optional<AttentionSpec> cross;
  NormSpec crossNorm;
  /// Cross attention takes queries and keys from the memory and values from the layer, whose sequences are as long.
  bool crossFromMemory = false;
  /// The bias of the own attention, in place of that of the stack.
  std::optional<DistanceBiasSpec> distanceBias;
  std::optional<FfnSpec> ffn;
  /// In place of |ffn|.
  std::optional<ExpertsSpec> experts;
  NormSpec ffnNorm, ffnResultNorm;
  /// The feed-forward reads the input of the layer, as attention does, and not its result: `x + attention(n(x)) + ffn(m(x))`. Without a
  /// norm of its own it shares that of attention.
  bool parallel = false;
};

/// What a layer does with its branches f: `norm(x + f(x))`, `x + f(norm(x))`, `norm(x) + f(norm(x))`, or `f(x)` alone.
enum class NormPlacement { Post, Pre, PreNormedResidual, None };

/// A convolution over neighboring tokens: `norm(layer + activation(projection(neighbors)))`, the rows of hidden tokens zero.
struct ConvolutionSpec {
  std::string path;
  /// Odd: as many tokens before a token as after it.
  int64_t taps = 1;
  /// `[hidden, taps * hidden]`: from a token and its neighbors, each with all its features.
  LinearSpec projection;
  mlir::xfmr::Activation activation = mlir::xfmr::Activation::None;
  NormSpec norm;
};

/// Layers that follow each other.
struct StackSpec {
  /// "encoder": layer functions are called "encoder_layer".
  std::string name;
  NormPlacement placement = NormPlacement::Post;
  double dropout = 0;
  int64_t hidden = 0;
  /// Features of what cross attention takes keys and values from.
  int64_t memoryHidden = 0;
  /// Largest padded length; 0 if there is none.
  int64_t maxLength = 0;
  EmbeddingSpec embeddings;
  /// Tokens of this id are hidden where no input masks tokens.
  std::optional<int64_t> hiddenId;
  /// Of all layers without one of their own.
  std::optional<DistanceBiasSpec> distanceBias;
  /// The mask, one of tokens, hides keys from all queries and all keys from the queries of hidden tokens.
  bool masksQueries = false;
  /// Of the embeddings; joins the result of the first layer.
  std::optional<ConvolutionSpec> convolution;
  std::vector<LayerSpec> layers;
  /// After the last layer.
  std::optional<NormSpec> finalNorm;
  /// From the features of the layers to those of the stack's result, after that norm.
  LinearSpec finalProjection;
  /// True if the last of `hidden_states` is the stack's result or what the final norm gets.
  bool lastStateNormed = true;
  /// True if keys and values can be kept for later tokens (`past_key_values`).
  bool cached = false;
  /// True if tokens that go on with a sequence have positions after its padding, too, and not after its visible tokens.
  bool countsPadding = false;
  /// Rotary tables begin with this many rows for calls whose sequences, earlier tokens included, have at most as many tokens; calls with a
  /// longer one read the rows after these (LongRoPE).
  std::optional<int64_t> shortRotaryRows;
  /// True if the head mask is that of the cross attention, too; if not, there is another input for it.
  bool crossSharesHeadMask = false;

  /// True if `past_key_values` has keys and values of cross attention, too.
  bool keepsCrossKeys = true;

  /// Tensors of a layer in `past_key_values`: key and value of its own attention, and of cross attention.
  int64_t cachedParts() const { return !cached ? 0 : keepsCrossKeys && !layers.empty() && layers.front().cross ? 4 : 2; }
};

} // namespace attune

#endif // ATTUNE_IMPORT_STACKSPEC_H
