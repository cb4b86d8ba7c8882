//===- LayerBody.h - The operations of a layer ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The operations of a layer, given the values that it reads. The memory is the encoder states to which cross attention
// attends. Letters of shapes: T tokens, M tokens of the memory, B sequences of padded length L, H hidden size, G heads
// of keys and values, D components of a key and E of a value, P tokens before those of the call, W tokens of a key
// panel.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_LAYERBODY_H
#define ATTUNE_IMPORT_LAYERBODY_H

#include "compiler/Import/TransformerSpec.h"
#include "mlir/IR/Builders.h"

#include <map>

namespace attune {

/// The sequences of a packed batch: |offsets| `[B + 1]` has the index of the first token of each sequence, then the
/// number of all tokens; |length| is the padded length.
struct Sequences {
  mlir::Value offsets;
  mlir::Value length;
  /// The additive mask of the keys of these sequences, as `xfmr.attention` reads it; null if every token is visible.
  mlir::Value mask;
  /// The padded position of each packed token, for keys and values in the layout of outputs (padHeads); null if nothing
  /// is packed, or if no keys or values are requested.
  mlir::Value paddedPositions;
};

/// The keys and values of an attention in the caches of a session.
struct CachedKeys {
  mlir::Value keys, values; // [slots, G, panels, D, W], [slots, G, capacity, E]
  /// The slot of each sequence, its number of tokens including the new ones, and an upper bound of all these numbers of
  /// tokens.
  mlir::Value slots, lengths, length;
  /// The number of tokens of each sequence before the new ones; null if the layer does not write the keys.
  mlir::Value past;
  /// The additive mask `[B, length]` of the cached keys; null if the layer only writes the keys.
  mlir::Value mask;

  template <typename Visit>
  void forEach(Visit visit) {
    for (mlir::Value *value : {&keys, &values, &slots, &lengths, &length, &past, &mask})
      visit(*value);
  }
};

/// The values that a layer reads beside its weights; null where it reads none.
struct LayerOperands {
  mlir::Value hidden; // [T, H]
  Sequences sequences;
  /// The head masks of self-attention and of cross attention.
  mlir::Value headMask, crossHeadMask;
  /// The rows of tokens in tables of rotary embeddings, `[T]`.
  mlir::Value positions;
  /// The bias that is added to the scores of self-attention by the distance of a key.
  mlir::Value distanceBias;
  /// The states `[M, …]` from which cross attention computes keys, and those for values if they differ.
  mlir::Value memory, memoryValues;
  Sequences memorySequences;
  /// Keys `[B, G, P, D]` and values `[B, G, P, E]` that are inputs of the entry. |pastKey| and |pastValue|, of earlier
  /// tokens, precede the keys and values that self-attention computes; |keySequences| are the sequences of both
  /// together. |memoryKey| and |memoryValue| are those of cross attention, where P is the length of the memory; with
  /// them |memory| is not read.
  mlir::Value pastKey, pastValue, memoryKey, memoryValue;
  Sequences keySequences;
  /// The caches of entries with caches. With them, cross attention reads |crossCache|, and only emitCrossKeys reads
  /// |memory|.
  CachedKeys selfCache, crossCache;

  /// Calls |visit| with a reference to each operand, present or not, in the order of a layer function's arguments.
  template <typename Visit>
  void forEach(Visit visit) {
    for (mlir::Value *value : {&hidden,
                               &sequences.offsets,
                               &sequences.length,
                               &sequences.mask,
                               &headMask,
                               &crossHeadMask,
                               &positions,
                               &distanceBias,
                               &memory,
                               &memoryValues,
                               &memorySequences.offsets,
                               &memorySequences.length,
                               &memorySequences.mask,
                               &sequences.paddedPositions,
                               &memorySequences.paddedPositions,
                               &pastKey,
                               &pastValue,
                               &memoryKey,
                               &memoryValue,
                               &keySequences.offsets,
                               &keySequences.length,
                               &keySequences.mask})
      visit(*value);
    selfCache.forEach(visit);
    crossCache.forEach(visit);
  }
};

/// The requested results of an attention beside the hidden state.
struct AttentionRequest {
  bool probabilities = false;
  /// True to return the keys, or the values: in the layout of outputs (padHeads) or, with caches, as updated caches.
  bool key = false, value = false;

  /// Returns true if keys or values are requested, results that `multi_head_attention` does not have.
  bool parts() const { return key || value; }
};

/// The results of an attention beside the hidden state; null unless requested.
struct AttentionResults {
  mlir::Value probabilities; // [B, heads, queries, keys]
  mlir::Value key, value;    // [B, G, keys, D] and [B, G, keys, E], or the updated caches
};

/// The requested results of a layer beside the hidden state.
struct LayerRequest {
  AttentionRequest own, cross;
};

struct LayerResults {
  mlir::Value hidden;
  AttentionResults own, cross;

  template <typename Visit>
  void forEach(Visit visit) {
    for (mlir::Value *value : {&hidden, &own.probabilities, &own.key, &own.value, &cross.probabilities, &cross.key, &cross.value})
      visit(*value);
  }
};

/// Emits the norm |spec| of |input|, or of |input| + |residual| if |residual| is not null. |weight| and |bias| are the
/// values of its weights; a null |bias| stands for an RMS norm.
mlir::Value createNorm(mlir::OpBuilder &builder, mlir::Location loc, const NormSpec &spec, mlir::Value input, mlir::Value residual,
                       mlir::Value weight, mlir::Value bias);

/// Emits the distance bias |spec| for up to |length| keys. |table| and |slopes| are the values of its weights; one of
/// them is null.
mlir::Value createDistanceBias(mlir::OpBuilder &builder, mlir::Location loc, const DistanceBiasSpec &spec, mlir::Value table,
                               mlir::Value slopes, mlir::Value length);

/// Emits the body of a layer function.
class LayerBody {
public:
  LayerBody(mlir::OpBuilder &builder, const StackSpec &stack, const LayerSpec &layer, const LayerOperands &operands,
            const std::map<WeightId, mlir::Value> &weights)
      : builder(builder), stack(stack), layer(layer), operands(operands), weights(weights) {}

  LayerResults emit(const LayerRequest &request);
  /// Writes the keys and values of cross attention to the caches, and returns the updated caches; emits nothing else of
  /// the layer.
  AttentionResults emitCrossKeys();

private:
  /// The inputs of one attention and the sequences they belong to.
  struct AttentionInputs {
    mlir::Value query, key, value;
    Sequences queries, keys;
    mlir::Value headMask, distanceBias;
    /// Keys and values that precede those of |key|, or replace them if |key| is null; null without such inputs.
    mlir::Value pastKey = {}, pastValue = {};
  };

  mlir::Location at(mlir::StringRef part) { return mlir::NameLoc::get(builder.getStringAttr(stack.name + "_layer." + part.str())); }
  mlir::Value weight(WeightId id) const;
  mlir::Value linear(mlir::Location loc, mlir::Value input, const LinearSpec &spec);
  mlir::Value norm(mlir::Value input, mlir::Value residual, const NormSpec &spec, mlir::StringRef part);
  mlir::Value dropout(mlir::Value input, mlir::StringRef part);

  mlir::Value experts(const ExpertsSpec &spec, mlir::Value input);
  /// Emits a layer whose branches read the same input, see LayerSpec::parallel.
  LayerResults emitParallel(const LayerRequest &request);
  /// Emits the branch |emit| of |input| with the dropout, the residual and the norms |spec| and |resultNorm|, as the
  /// NormPlacement of the stack says (see LayerSpec). |part| names the branch.
  mlir::Value branch(mlir::Value input, const NormSpec &spec, const NormSpec &resultNorm, const std::string &part,
                     llvm::function_ref<mlir::Value(mlir::Value)> emit);
  /// Returns the distance bias of self-attention, that of the layer or of the stack; null if there is none.
  mlir::Value distanceBias();
  /// Returns the inputs of the self-attention of |input|.
  AttentionInputs selfInputs(mlir::Value input);
  /// Emits an attention, to the keys of |cache| if it has any, and sets the requested parts of |results|.
  mlir::Value attention(const AttentionSpec &spec, const AttentionInputs &inputs, const std::string &part, const AttentionRequest &request,
                        const CachedKeys &cache, AttentionResults &results);
  /// The next two functions emit an attention: compositeAttention as one `xfmr.multi_head_attention`, splitAttention as
  /// projections and an `xfmr.attention`. |probabilities| is the type of probabilities, null if they are not requested.
  mlir::Value compositeAttention(mlir::Location loc, const AttentionSpec &spec, const AttentionInputs &inputs, mlir::Type probabilities,
                                 AttentionResults &results);
  mlir::Value splitAttention(mlir::Location loc, const AttentionSpec &spec, const AttentionInputs &inputs, mlir::Type probabilities,
                             AttentionResults &results);
  /// Emits an attention to the keys and values of |cache|, after appending those of the input if the layer writes them.
  mlir::Value cachedAttention(mlir::Location loc, const AttentionSpec &spec, AttentionInputs inputs, const CachedKeys &cache,
                              AttentionResults &results);
  /// Appends the keys and values of |inputs| to |cache|, and returns the updated caches.
  AttentionResults updateCache(mlir::Location loc, const AttentionSpec &spec, const AttentionInputs &inputs, const CachedKeys &cache);
  /// Projects |input| to heads of queries, `[T, heads, head size]`; clips and normalizes them and applies rotary
  /// embeddings, as |spec| says. keyHeads does the same for keys, which begin with the shared components if there are
  /// any; valueHeads projects and clips values.
  mlir::Value queryHeads(mlir::Location loc, mlir::Value input, const AttentionSpec &spec);
  mlir::Value keyHeads(mlir::Location loc, mlir::Value input, const AttentionSpec &spec);
  mlir::Value valueHeads(mlir::Location loc, mlir::Value input, const AttentionSpec &spec);
  /// Returns the latent vector |spec| of |input|, or |input| if |spec| has no projection.
  mlir::Value latent(mlir::Location loc, mlir::Value input, const LatentSpec &spec);
  /// Puts the components |shared| `[T, 1, R]` before those of each of |heads| `[T, G, N]`: `[T, G, R + N]`.
  mlir::Value prependShared(mlir::Location loc, mlir::Value shared, mlir::Value heads);
  /// Projects |input| by |projection| to |count| heads, clamps their components to [-clip, clip] if |clip| has a value,
  /// and applies the norm |head| if there is one.
  mlir::Value projectHeads(mlir::Location loc, mlir::Value input, const LinearSpec &projection, int64_t count, const HeadNormSpec &head,
                           std::optional<double> clip);
  /// Projects |input| to |count| heads, as projectHeads does, and rotates them by the positions of their tokens if
  /// |spec| has rotary embeddings. The norm |head|, if there is one, comes before the rotation or, with |normsTurned|
  /// in |spec|, after it.
  mlir::Value rotatedHeads(mlir::Location loc, mlir::Value input, const AttentionSpec &spec, const LinearSpec &projection, int64_t count,
                           const HeadNormSpec &head);
  mlir::Value rotate(mlir::Location loc, mlir::Value heads, const AttentionSpec &spec);
  /// Joins, in each sequence, the heads |past| `[B, G, P, D]` of P tokens and the heads |heads| `[N, G, D]` of the
  /// tokens after these to heads `[T, G, D]`. |length| is the length of a joined sequence. If |past| is null, returns
  /// |heads|; if |heads| is null, there are no tokens after the first P.
  mlir::Value appendHeads(mlir::Location loc, mlir::Value past, mlir::Value heads, mlir::Value length);
  /// Returns heads `[T, G, D]` of |sequences| as `[B, G, L, D]`, the layout of outputs.
  mlir::Value padHeads(mlir::Location loc, mlir::Value heads, const Sequences &sequences);
  /// Sets those operands and attributes of |op|, an operation of attention, that concern scores, such as mask, window,
  /// biases and sinks. Returns the probabilities of |op|, or null if it has none.
  template <typename Op>
  mlir::Value setScores(Op op, const AttentionSpec &spec, const AttentionInputs &inputs);
  mlir::Value feedForward(const FfnSpec &spec, mlir::Value input);

  mlir::OpBuilder &builder;
  const StackSpec &stack;
  const LayerSpec &layer;
  LayerOperands operands;
  const std::map<WeightId, mlir::Value> &weights;
};

} // namespace attune

#endif // ATTUNE_IMPORT_LAYERBODY_H
