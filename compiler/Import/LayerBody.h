//===- LayerBody.h - What one layer computes --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The operations of a layer, given values for what it reads. Shape letters: T tokens, M memory tokens, B batch, L length, H hidden.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_LAYERBODY_H
#define ATTUNE_IMPORT_LAYERBODY_H

#include "compiler/Import/TransformerSpec.h"
#include "mlir/IR/Builders.h"

#include <map>

namespace attune {

/// The sequences of a packed batch.
struct Sequences {
  mlir::Value offsets;
  mlir::Value length;
  /// What masks the keys of these sequences; null if every token is visible.
  mlir::Value mask;
  /// Where packed tokens stand in the padded batch, for what leaves a layer padded; null if nothing is packed.
  mlir::Value places;
};

/// Keys and values in a session's caches, which an attention reads in place of those of its input.
struct CachedKeys {
  mlir::Value keys, values; // [slots, G, panels, D, W], [slots, G, capacity, E]
  /// The slot of each sequence, the tokens that are in it, new ones included, and the most of them.
  mlir::Value slots, lengths, length;
  /// How many tokens of each sequence are there before the new ones; null where keys are not the layer's to write.
  mlir::Value past;
  mlir::Value mask;

  template <typename Visit>
  void forEach(Visit visit) {
    for (mlir::Value *value : {&keys, &values, &slots, &lengths, &length, &past, &mask})
      visit(*value);
  }
};

/// What a layer reads beside its weights; null where it has none.
struct LayerOperands {
  mlir::Value hidden; // [T, H]
  Sequences sequences;
  /// Of the own and of the cross attention.
  mlir::Value headMask, crossHeadMask;
  /// The rows of tokens in rotary tables, [T], for heads that are turned by them.
  mlir::Value positions;
  /// What the distance of a key adds to its score in the own attention.
  mlir::Value distanceBias;
  /// What cross attention takes keys from, [M, …], and values if those come from elsewhere.
  mlir::Value memory, memoryValues;
  Sequences memorySequences;
  /// Given keys and values, [B, G, past, D]: of earlier tokens, which those of the own attention follow, and of the memory, which is then
  /// not read; and the sequences of the own keys together.
  mlir::Value pastKey, pastValue, memoryKey, memoryValue;
  Sequences keySequences;
  /// In entries that use caches; cross attention then reads no memory.
  CachedKeys ownCache, crossCache;

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
                               &sequences.places,
                               &memorySequences.places,
                               &pastKey,
                               &pastValue,
                               &memoryKey,
                               &memoryValue,
                               &keySequences.offsets,
                               &keySequences.length,
                               &keySequences.mask})
      visit(*value);
    ownCache.forEach(visit);
    crossCache.forEach(visit);
  }
};

/// Which results are wanted of an attention beside the hidden state.
struct AttentionRequest {
  bool probabilities = false;
  /// Keys and values, as they would be cached.
  bool key = false, value = false;

  /// Whether anything is wanted that is not a result of `multi_head_attention`.
  bool parts() const { return key || value; }
};

/// What an attention gives out; null unless asked for.
struct AttentionResults {
  mlir::Value probabilities; // [B, heads, L, keys]
  mlir::Value key, value;    // [B, kv heads, L, head size], or caches that hold them
};

/// Which results are wanted of a layer beside the hidden state.
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

/// Emits the norm |spec| of |input| (+ |residual|, which may be null); |weight| and |bias| are the values of its weights.
mlir::Value createNorm(mlir::OpBuilder &builder, mlir::Location loc, const NormSpec &spec, mlir::Value input, mlir::Value residual,
                       mlir::Value weight, mlir::Value bias);

/// Emits the bias |spec| of keys up to |length|; |table| and |slopes| are the values of its weights.
mlir::Value createDistanceBias(mlir::OpBuilder &builder, mlir::Location loc, const DistanceBiasSpec &spec, mlir::Value table,
                               mlir::Value slopes, mlir::Value length);

/// Emits the body of a layer function.
class LayerBody {
public:
  LayerBody(mlir::OpBuilder &builder, const StackSpec &stack, const LayerSpec &layer, const LayerOperands &operands,
            const std::map<WeightId, mlir::Value> &weights)
      : builder(builder), stack(stack), layer(layer), operands(operands), weights(weights) {}

  LayerResults emit(const LayerRequest &request);
  /// Writes the keys and values of cross attention to the caches; nothing else of the layer.
  AttentionResults emitCrossKeys();

private:
  /// One attention: its inputs, and the sequences they belong to.
  struct AttentionInputs {
    mlir::Value query, key, value;
    Sequences queries, keys;
    mlir::Value headMask, distanceBias;
    /// What comes before the keys and values, or in place of them where |key| is null; null unless given.
    mlir::Value pastKey = {}, pastValue = {};
  };

  mlir::Location at(mlir::StringRef part) { return mlir::NameLoc::get(builder.getStringAttr(stack.name + "_layer." + part.str())); }
  mlir::Value weight(WeightId id) const;
  mlir::Value linear(mlir::Location loc, mlir::Value input, const LinearSpec &spec);
  mlir::Value norm(mlir::Value input, mlir::Value residual, const NormSpec &spec, mlir::StringRef part);
  mlir::Value dropout(mlir::Value input, mlir::StringRef part);

  mlir::Value experts(const ExpertsSpec &spec, mlir::Value input);
  /// The layer whose branches read the same input, see LayerSpec::parallel.
  LayerResults emitParallel(const LayerRequest &request);
  /// A branch |emit| of the layer's |input| with its norm |spec|, the norm of its result and its residual; |part| names it.
  mlir::Value branch(mlir::Value input, const NormSpec &spec, const NormSpec &resultNorm, const std::string &part,
                     llvm::function_ref<mlir::Value(mlir::Value)> emit);
  /// The bias of the own attention: that of the layer, or of the stack.
  mlir::Value distanceBias();
  /// The layer's own attention to |input|.
  AttentionInputs ownInputs(mlir::Value input);
  /// Attention; what |request| asks for goes to |results|.
  mlir::Value attention(const AttentionSpec &spec, const AttentionInputs &inputs, const std::string &part, const AttentionRequest &request,
                        const CachedKeys &cache, AttentionResults &results);
  /// The same in one operation, and in several.
  mlir::Value compositeAttention(mlir::Location loc, const AttentionSpec &spec, const AttentionInputs &inputs, mlir::Type probabilities,
                                 AttentionResults &results);
  mlir::Value splitAttention(mlir::Location loc, const AttentionSpec &spec, const AttentionInputs &inputs, mlir::Type probabilities,
                             AttentionResults &results);
  /// Attention to the keys and values of |cache|, after those of the input have been added where they are the layer's to write.
  mlir::Value cachedAttention(mlir::Location loc, const AttentionSpec &spec, AttentionInputs inputs, const CachedKeys &cache,
                              AttentionResults &results);
  /// Adds the keys and values of |inputs| to |cache|.
  AttentionResults updateCache(mlir::Location loc, const AttentionSpec &spec, const AttentionInputs &inputs, const CachedKeys &cache);
  /// |input| projected to the heads of queries, keys or values, `[T, heads, head size]`: clipped, normalized and with rotary embeddings, as
  /// |spec| says.
  mlir::Value queryHeads(mlir::Location loc, mlir::Value input, const AttentionSpec &spec);
  mlir::Value keyHeads(mlir::Location loc, mlir::Value input, const AttentionSpec &spec);
  mlir::Value valueHeads(mlir::Location loc, mlir::Value input, const AttentionSpec &spec);
  /// |input| projected by |projection| to |count| heads, with the norm |head|.
  mlir::Value projectHeads(mlir::Location loc, mlir::Value input, const LinearSpec &projection, int64_t count, const HeadNormSpec &head,
                           std::optional<double> clip);
  mlir::Value rotate(mlir::Location loc, mlir::Value heads, const AttentionSpec &spec);
  /// Heads `[T, G, D]` after |past|, `[B, G, P, D]`, in sequences of |length|; |heads| is null if there is nothing else, |past| if there is
  /// nothing before.
  mlir::Value appendHeads(mlir::Location loc, mlir::Value past, mlir::Value heads, mlir::Value length);
  /// Heads `[T, G, D]` of |sequences| as `[B, G, L, D]`, as caches are given out.
  mlir::Value padHeads(mlir::Location loc, mlir::Value heads, const Sequences &sequences);
  /// Sets what both attention operations have beside their tensors; returns the probabilities, if any.
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
