//===- StackSpec.h - The description of a stack of layers -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_STACKSPEC_H
#define ATTUNE_IMPORT_STACKSPEC_H

#include "compiler/Import/WeightSpec.h"
#include "dialect/Xfmr/IR/XfmrOps.h"

#include <optional>

namespace attune {

/// A projection `x W^T + b`, where W is `[out, in]`; without a bias, b is not added.
struct LinearSpec {
  WeightId weight = noWeight;
  WeightId bias = noWeight;
};

/// A layer norm, or an RMS norm if there is no bias. Without a weight there is no norm.
struct NormSpec {
  WeightId weight = noWeight;
  WeightId bias = noWeight;
  double epsilon = 0;

  explicit operator bool() const { return weight != noWeight; }
};

/// A norm of queries or keys.
struct HeadNormSpec {
  /// Heads: normalizes each head, with weights `[head size]`. Projection: normalizes all heads together, with weights
  /// `[heads * head size]`.
  enum Extent { Heads, Projection };

  NormSpec norm;
  Extent extent = Heads;
  /// `[heads * head size]`: factors after the norm, for norms whose weights differ from head to head.
  WeightId factors = noWeight;
};

/// The split of an image `[channels, height, width]` into patches; sizes are in pixels. Each patch is projected to a
/// token, and a class token precedes those of the patches.
struct PatchSpec {
  int64_t channels = 0, height = 0, width = 0, patchHeight = 0, patchWidth = 0;
  /// Projects a patch, whose elements are in the order `[channels, patchHeight, patchWidth]`.
  LinearSpec projection;
  /// `[2, hidden]`: the class token, then zeros.
  WeightId classTable = noWeight;

  int64_t rows() const { return height / patchHeight; }
  int64_t columns() const { return width / patchWidth; }
  /// Returns the number of tokens: patches and the class token.
  int64_t tokens() const { return rows() * columns() + 1; }
};

/// Tables `[positions, hidden]` of coordinates on a page. The embedding of a token adds six rows: those of |x| for the
/// left and the right side of its box, of |y| for the upper and the lower side, of |height| and of |width|.
struct BoxSpec {
  WeightId x = noWeight, y = noWeight, height = noWeight, width = noWeight;
};

/// Scaling of word vectors as in training with masked tokens: the vectors of mask tokens become zero, all others are
/// multiplied by `kept / (1 - masked)`, where `masked` is the number of mask tokens of the sequence divided by the
/// number of its visible tokens.
struct TokenDropoutSpec {
  int64_t maskId = 0;
  double kept = 1;
};

/// The sum of rows of word, token-type, position, task and box tables, in this order, then a norm. Tables that are
/// absent are not added.
struct EmbeddingSpec {
  std::string path;
  WeightId words = noWeight;
  WeightId types = noWeight;
  WeightId positions = noWeight;
  /// A table of kinds of tasks, added after positions.
  WeightId tasks = noWeight;
  /// The padding id of models that, without an input of positions, count positions over the tokens that are not
  /// padding: the first of these tokens has the position `countedAfter` + 1 (see `xfmr.counted_positions`).
  std::optional<int64_t> countedAfter;
  /// True if positions are counted over the tokens that the mask shows, those of earlier calls included, instead of
  /// over ids that are not padding. Hidden tokens read row `countedAfter` of the table. An input of positions begins at
  /// 0, which is row `countedAfter` + 1.
  bool countsMask = false;
  /// True if token types are added only if they are an input; otherwise all tokens have type 0 without such an input.
  bool typesIfGiven = false;
  /// True if kinds of tasks are added only if they are an input.
  bool tasksIfGiven = false;
  /// True if all tokens have the position of the first.
  bool onePosition = false;
  std::optional<PatchSpec> patches;
  std::optional<BoxSpec> boxes;
  std::optional<TokenDropoutSpec> tokenDropout;
  /// |scale| multiplies word vectors and, with |scalesGivenVectors|, also those of the input `inputs_embeds`.
  double scale = 1;
  bool scalesGivenVectors = false;
  /// Projects the vectors of words, also those of `inputs_embeds`, to the features of the stack, before positions are
  /// added.
  LinearSpec wordProjection;
  std::optional<NormSpec> norm;
  /// True if the norm applies to words alone, before types and positions are added.
  bool normsWords = false;
  /// Projects the sum, which has the features of the tables, to the features of the stack: before the norm if
  /// |projectsBeforeNorm|, else after it.
  LinearSpec projection;
  bool projectsBeforeNorm = false;
  /// True if the rows of hidden tokens are set to zero after the norm.
  bool zeroesHidden = false;
  double dropout = 0;
};

/// A projection and a norm of its result: a small vector from which several heads are projected (latent attention).
struct LatentSpec {
  LinearSpec projection;
  NormSpec norm;

  explicit operator bool() const { return projection.weight != noWeight; }
};

struct AttentionSpec {
  LinearSpec query, key, value;
  /// The vectors that projections read instead of the input: |query| reads |queryLatent|, |key| and |value| read
  /// |keyLatent|. Where a latent vector has no projection, they read the input.
  LatentSpec queryLatent, keyLatent;
  /// A projection `[R, hidden]` of the input to R components with which the keys of all heads begin. In keys, rotary
  /// embeddings rotate only these components, not those of |key|.
  LinearSpec sharedKey;
  /// The output projection; without it the joined heads are the result.
  LinearSpec output;
  int64_t heads = 0;
  int64_t kvHeads = 0;
  double scale = 1;
  /// True if a token attends only to itself and earlier ones.
  bool causal = false;
  /// True if a mask with the dimensions `[batch, queries, keys]` replaces `causal`.
  bool queryKeyMaskReplacesCausal = false;
  /// The largest distance of a visible key before its query (left) and after it (right); empty for no limit.
  std::optional<int64_t> windowLeft, windowRight;
  /// If it has a value, scores s become `softcap * tanh(s / softcap)`.
  std::optional<double> softcap;
  /// If it has a value, projected queries, keys and values are clamped to [-clip, clip].
  std::optional<double> clip;
  HeadNormSpec queryNorm, keyNorm;
  /// True if |queryNorm| and |keyNorm| come after rotary embeddings, not before them.
  bool normsTurned = false;
  /// `[heads]`: for each head the score of one more key, whose value is zero (attention sinks). A query without a
  /// visible key then gives zeros.
  WeightId sinks = noWeight;
  /// The probabilities of a query without a visible key.
  mlir::xfmr::MaskedRows maskedRows = mlir::xfmr::MaskedRows::Uniform;
  /// The step of attention whose values the output `attentions` has, in most families the probabilities.
  mlir::xfmr::ScoreStage scoreStage = mlir::xfmr::ScoreStage::Softmax;
  /// `[positions, R]`: for each position the R / 2 cosines, then the R / 2 sines of the rotary embeddings of queries
  /// and keys, which rotate R components.
  WeightId rotary = noWeight;
  /// True if rotary embeddings rotate pairs of neighboring components; otherwise they rotate pairs (i, i + R / 2).
  bool interleaved = false;
  /// Tables of vectors by the distance d, the position of the query minus that of the key. Row d + N - 1 is for d, from
  /// 1 - N to N - 1, where N is the largest number of tokens of a sequence. A table `[2 N - 1, head size]` has one
  /// vector for all heads, a table `[2 N - 1, heads * head size]` one for each head. Scores add the product of the
  /// vector with the query (relativeKey) or with the key (relativeQuery).
  WeightId relativeKey = noWeight, relativeQuery = noWeight;
  /// |originalHeads| is the number of heads before some were removed (pruned); 0 means |heads|. |headNumbers| are the
  /// numbers of the remaining heads among them; empty means all.
  int64_t originalHeads = 0;
  std::vector<int64_t> headNumbers;
};

/// Two projections with an activation between them, or three: then the activation applies to `gate`, and its product
/// with `up` goes to `down`.
struct FfnSpec {
  LinearSpec up, down, gate;
  mlir::xfmr::Activation activation = mlir::xfmr::Activation::None;
};

/// A bias of scores by the distance of the key, in self-attention of a stack or a layer: |table| `[buckets, heads]`, or
/// |slopes| `[heads]` times minus the distance (ALiBi). The other of the two is noWeight.
struct DistanceBiasSpec {
  WeightId table = noWeight;
  /// True if later keys have buckets of their own; otherwise they have that of the distance 0.
  bool bidirectional = false;
  /// The attribute `max_distance` of `xfmr.relative_position_bias`.
  int64_t maxDistance = 0;
  WeightId slopes = noWeight;
  /// How hidden keys between visible ones count in distances by |slopes|.
  enum Counting {
    /// Like visible keys.
    AllKeys,
    /// They do not count.
    VisibleKeys,
    /// They do not count; the product of a slope and the number of visible keys before a key is rounded to bf16 and
    /// then multiplied by |factor|. This is Falcon's formula.
    RoundedVisibleKeys,
  } counting = AllKeys;
  double factor = 1;
};

/// A mixture of experts: feed-forward networks of which each token uses those with its highest router scores, each
/// multiplied by its share (see `xfmr.choose_experts`).
struct ExpertsSpec {
  /// Projects a token to the scores of the experts.
  LinearSpec router;
  int64_t chosen = 0;
  /// True if shares are the softmax of the chosen scores; otherwise they are the softmax of all scores.
  bool normalized = false;
  /// True if experts are chosen by the sigmoid of their scores plus `[experts]` |choiceBias|, and shares are the
  /// sigmoids alone, divided by the sum of those of the chosen experts if they are |normalized|.
  bool sigmoid = false;
  WeightId choiceBias = noWeight;
  /// Experts are chosen only from `kept` of `count` groups: the groups whose `keys` largest scores have the largest
  /// sums (with |sigmoid|: of sigmoids plus |choiceBias|).
  struct Groups {
    int64_t count, kept, keys;
  };
  std::optional<Groups> groups;
  /// The matrices of all experts, `[experts, out, in]`, and their biases, `[experts, out]`.
  FfnSpec networks;
  /// The limit and the factor alpha of `xfmr.clamped_glu`, which then replaces the activation of |networks|.
  struct ClampedGlu {
    double limit, alpha;
  };
  std::optional<ClampedGlu> clampedGlu;
  /// A network that all tokens use, if there is one; its result is added to that of the experts. If |sharedGate|, a
  /// projection of the token to one number, has a weight, the sigmoid of this number first multiplies the network's
  /// result.
  std::optional<FfnSpec> shared;
  LinearSpec sharedGate;
};

/// Up to three branches in this order, each with its norm: self-attention, cross attention, and a feed-forward network
/// or experts. In a stack of `NormPlacement::Pre` a branch may lack the norm of its input and may have one of its
/// result: `x + resultNorm(f(norm(x)))`. In a stack of `NormPlacement::Post` a branch may have a norm of the sum x +
/// f(x), to which the residual is then added again: `norm(x + resultNorm(x + f(x)))`.
struct LayerSpec {
  std::string path;
  std::optional<AttentionSpec> attention;
  NormSpec attentionNorm, attentionResultNorm;
  /// Cross attention, to another sequence.
  std::optional<AttentionSpec> cross;
  NormSpec crossNorm;
  /// True if cross attention computes queries and keys from the memory, and values from the layer. The sequences of
  /// both then have the same lengths.
  bool crossFromMemory = false;
  /// The distance bias of self-attention, which replaces that of the stack.
  std::optional<DistanceBiasSpec> distanceBias;
  std::optional<FfnSpec> ffn;
  /// Replaces |ffn|.
  std::optional<ExpertsSpec> experts;
  NormSpec ffnNorm, ffnResultNorm;
  /// True if the feed-forward reads the input of the layer, as attention does, and not the result of attention:
  /// `x + attention(n(x)) + ffn(m(x))`, where n is |attentionNorm| and m is |ffnNorm| or, if that is absent, n.
  bool parallel = false;
};

/// The norm and the residual of a branch f: `norm(x + f(x))`, `x + f(norm(x))`, `norm(x) + f(norm(x))`, or `f(x)`
/// alone.
enum class NormPlacement { Post, Pre, PreNormedResidual, None };

/// A convolution over neighboring tokens: `norm(layer + activation(projection(neighbors)))`, where `layer` is the
/// result of the first layer, with zeros for hidden tokens.
struct ConvolutionSpec {
  std::string path;
  /// The number of tokens in a window, which is odd: a token and as many neighbors before as after it.
  int64_t taps = 1;
  /// `[hidden, taps * hidden]`: projects the features of a token and its neighbors.
  LinearSpec projection;
  mlir::xfmr::Activation activation = mlir::xfmr::Activation::None;
  NormSpec norm;
};

/// A sequence of layers.
struct StackSpec {
  /// The name of the stack, with which the names of its layer functions begin: "encoder" gives "encoder_layer".
  std::string name;
  NormPlacement placement = NormPlacement::Post;
  double dropout = 0;
  int64_t hidden = 0;
  /// The number of features of the states that cross attention reads.
  int64_t memoryHidden = 0;
  /// The largest padded length of a sequence, in tokens; 0 for no limit.
  int64_t maxLength = 0;
  EmbeddingSpec embeddings;
  /// Tokens with this id are hidden if the entry has no mask as an input.
  std::optional<int64_t> hiddenId;
  /// The distance bias of all layers without one of their own.
  std::optional<DistanceBiasSpec> distanceBias;
  /// True if the mask, which has one value for each token, hides not only hidden tokens from all queries, but also all
  /// keys from the queries of hidden tokens.
  bool masksQueries = false;
  /// True if the rows of hidden tokens become zero after each layer.
  bool zeroesHidden = false;
  /// A convolution of the embeddings that is added to the result of the first layer.
  std::optional<ConvolutionSpec> convolution;
  std::vector<LayerSpec> layers;
  /// The norm after the last layer.
  std::optional<NormSpec> finalNorm;
  /// Projects the features of the layers to those of the stack's result, after the final norm.
  LinearSpec finalProjection;
  /// True if the last of `hidden_states` is the result of the stack; otherwise it is the input of the final norm.
  bool lastStateNormed = true;
  /// True if keys and values can be kept for later tokens (`past_key_values`).
  bool cached = false;
  /// True if padding counts in the positions of later tokens of a sequence; otherwise only visible tokens count.
  bool countsPadding = false;
  /// The number of rows in the first part of rotary tables, for calls whose longest sequence, earlier tokens included,
  /// has at most as many tokens. Other calls read the rows after this part (LongRoPE). Empty if the tables have one
  /// part.
  std::optional<int64_t> shortRotaryRows;
  /// True if the head mask applies to cross attention, too; otherwise cross attention has an input of its own.
  bool crossSharesHeadMask = false;

  /// True if `past_key_values` also has the keys and values of cross attention; without effect in a stack that has
  /// none.
  bool keepsCrossKeys = true;

  /// Returns the number of tensors of a layer in `past_key_values`: key and value of self-attention, and of cross
  /// attention if they are kept; 0 if nothing is cached.
  int64_t cachedParts() const { return !cached ? 0 : keepsCrossKeys && !layers.empty() && layers.front().cross ? 4 : 2; }
};

} // namespace attune

#endif // ATTUNE_IMPORT_STACKSPEC_H
