//===- EntryBuilder.h - The entries of a model ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Emits `forward`, `embed` and the entries that use caches. An entry converts padded inputs to tokens, computes the
// embeddings, the layers of each stack and the heads, and converts the results to padded outputs.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_ENTRYBUILDER_H
#define ATTUNE_IMPORT_ENTRYBUILDER_H

#include "compiler/Import/CacheEntries.h"
#include "compiler/Import/HeadSteps.h"
#include "compiler/Import/LayerFunctions.h"

namespace attune {

/// The layer functions of a module, shared by its entries.
struct ModelLayers {
  std::optional<LayerFunctions> encoder, decoder;

  ModelLayers(const TransformerSpec &spec, WeightTable &weights);
};

/// Returns a tensor `[count]` of i64, filled with |length| or, if |length| is null, with zeros.
mlir::Value emitLengths(EntryScope &scope, mlir::Value count, mlir::Value length = {});

/// Builds one entry. An object emits only once.
class EntryBuilder {
public:
  EntryBuilder(const TransformerSpec &spec, const std::vector<EntryInput> &inputs, const std::vector<EntryOutput> &outputs, Padding padding,
               WeightTable &weights, ModelLayers &layers, mlir::ModuleOp module);

  /// Emits the entry |name|, which uses no caches.
  void emit(mlir::StringRef name);
  /// Emits |entry|. The constructor must have got the inputs and outputs of |entry|.
  void emit(const CachingEntry &entry);

private:
  /// The tokens of a stack, and its result after the final norm and the final projection; empty until they are emitted.
  struct Stack {
    std::optional<TokenBatch> tokens;
    mlir::Value result;
  };

  /// A cache: the attribute of its argument, and its present value.
  struct EntryCache {
    mlir::xfmr::CacheAttr attribute;
    mlir::Value value;
  };

  mlir::func::FuncOp createFunction(mlir::StringRef name, mlir::xfmr::CacheUse caches);
  /// Returns the batch of sequences of |padded| `[B, L, …]`. |lengthDim| is the name of L; |mask|, which may be null,
  /// hides some tokens.
  TokenBatch makeBatch(mlir::Value padded, const std::string &lengthDim, mlir::Value mask);
  /// Returns true if the entry has as an input the tokens of the stack |role| (ids, vectors or an image), or the result
  /// of this stack.
  bool hasSource(StackRole role) const;
  /// Returns the decoder's ids made from the encoder's |ids|, see ShiftedIdsSpec.
  mlir::Value shiftIds(mlir::Value ids);
  TokenBatch makeStackBatch(StackRole role);
  /// Applies the final norm and the final projection of |stack|, if it has them, to |hidden|.
  mlir::Value emitFinal(const StackSpec &stack, mlir::Value hidden);
  void emitStack(StackRole role);
  /// Sets the operands of cross attention in |operands|: the memory and its sequences, or the sequences alone if the
  /// encoder does not run because keys and values of cross attention are inputs. Sets none if there is no memory.
  void provideMemory(LayerOperands &operands);
  /// If keys and values of earlier tokens are inputs, makes |tokens| continue after these, sets |totalLength| and
  /// `keySequences` of |operands|, and moves the mask, which covers all keys, from `sequences` to `keySequences`.
  /// Otherwise does nothing.
  void continueAfterPast(TokenBatch &tokens, LayerOperands &operands);
  /// Sets the operands for those keys and values of layer |layer| that are inputs of the entry; sets the others to
  /// null. If keys of cross attention are inputs, also sets the memory to null.
  void providePast(int64_t layer, LayerOperands &operands);
  /// Returns the head mask `[heads]` of layer |layer|: |mask| itself if all layers share it, its row |layer| if it has
  /// a row for each layer, null if |mask| is null.
  mlir::Value headMaskOf(mlir::Value mask, int64_t layer);
  /// Returns the distance bias of |stack| for up to |length| keys; null if the stack has none, or if addKeyBias adds
  /// all of it to the mask (DistanceBiasSpec::RoundedVisibleKeys).
  mlir::Value emitDistanceBias(const StackSpec &stack, mlir::Value length);
  /// Adds to |mask| `[B, K]`, the mask of |length| keys, the part of the distance bias of |stack| that depends on which
  /// keys are visible. A null |mask| shows all keys. Returns the sum `[B, H, 1, K]` for H heads (see KeyBias), or
  /// |mask| itself if there is no such part.
  mlir::Value addKeyBias(const StackSpec &stack, mlir::Value mask, mlir::Value length);
  /// Returns the values of layer |layer| that outputs need beside the hidden state.
  LayerRequest requestOf(StackRole role, int64_t layer) const;

  /// Returns true if an output is or contains the member |member| of the group |kind| of the stack |role|.
  bool wanted(EntryOutput::Kind kind, StackRole role, int64_t member) const;
  /// Stores the results |attention| of layer |layer|, those of self-attention or of cross attention as |kind| says, in
  /// the outputs that need them. The keys are tokens of |keys|; |keyDim| is the name of their dimension. |part| is the
  /// index of the keys among the tensors that a layer caches (StackSpec::cachedParts).
  void captureAttention(EntryOutput::Kind kind, StackRole role, int64_t layer, const AttentionSpec &spec, const AttentionResults &attention,
                        TokenBatch &keys, const std::string &keyDim, int64_t part);
  /// Stores |value| in the outputs that are or contain the member |member| of the group |kind| of the stack |role|.
  void capture(EntryOutput::Kind kind, StackRole role, int64_t member, const EntryResult &value);
  /// Returns the sizes of |value|, one for each of its dims.
  mlir::SmallVector<mlir::OpFoldResult> extentsOf(const EntryResult &value);
  void finish(mlir::func::FuncOp function);

  // The next four functions add arguments that are not inputs of the model: values that the session knows of each
  // sequence, dims, and caches.
  mlir::Value addArgument(mlir::Type type, mlir::StringRef name, mlir::NamedAttribute attribute);
  mlir::Value addRowInput(mlir::xfmr::InputDefault value);
  mlir::Value addDimArgument(mlir::xfmr::SessionDim dim);
  mlir::Value addCache(const std::string &name, bool ofSources, const std::vector<std::string> &rest);
  /// Adds the arguments for the caches of self-attention or, with |ofSources|, of cross attention of layer |layer|.
  /// Returns them as the keys and values of a CachedKeys, whose other members are null.
  CachedKeys addLayerCache(int64_t layer, const AttentionSpec &attention, bool ofSources);
  /// Records that the cache |before| has the new value |after|.
  void updateCache(mlir::Value before, mlir::Value after);
  /// Adds the arguments for the slot and the number of earlier tokens of each sequence, appends the mask of |tokens| to
  /// the cache of masks, and makes |tokens| continue after the earlier tokens. Returns the CachedKeys of self-attention
  /// without keys and values, which differ from layer to layer.
  CachedKeys emitSelfKeys(TokenBatch &tokens);
  CachedKeys readSourceKeys();
  void emitCachedStack(const CachingEntry &entry);
  void emitSources();

  Stack &stackOf(StackRole role) { return role == StackRole::Encoder ? encoder : decoder; }

  EntryScope scope;
  const TransformerSpec &spec;
  const std::vector<EntryOutput> &outputs;
  ModelLayers &layers;
  Stack encoder, decoder;
  std::optional<TokenBatch> memory;
  /// The length of the decoder's sequences including the tokens whose keys are inputs; null without such inputs.
  mlir::Value totalLength;
  std::vector<EntryResult> results;
  mlir::func::FuncOp function;
  std::vector<EntryCache> caches;
};

} // namespace attune

#endif // ATTUNE_IMPORT_ENTRYBUILDER_H
