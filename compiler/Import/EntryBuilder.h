//===- EntryBuilder.h - The entries of a model ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Emits `forward`, `embed` and the entries that use caches: inputs to tokens, embeddings, the layers of each stack,
// heads, outputs back to padded tensors.
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

/// Returns a tensor `[count]` filled with |length|, or with zeros if it is null.
mlir::Value emitLengths(EntryScope &scope, mlir::Value count, mlir::Value length = {});

/// Builds one entry. An object is used once.
class EntryBuilder {
public:
  EntryBuilder(const TransformerSpec &spec, const std::vector<EntryInput> &inputs, const std::vector<EntryOutput> &outputs, Padding padding,
               WeightTable &weights, ModelLayers &layers, mlir::ModuleOp module);

  /// Emits the entry |name|, which uses no caches.
  void emit(mlir::StringRef name);
  /// Emits |entry|, whose inputs and outputs the constructor must have got.
  void emit(const CachingEntry &entry);

private:
  /// The values of a stack that are emitted so far: its tokens, and its result after the final norm.
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
  /// Returns the batch of sequences of the padded tensor |padded|; |mask|, which may be null, hides some tokens.
  TokenBatch makeBatch(mlir::Value padded, const std::string &lengthDim, mlir::Value mask);
  /// Returns true if the entry has tokens of the stack, as ids, vectors or an image, or the stack's result as an input.
  bool hasSource(StackRole role) const;
  /// Returns the decoder's ids made from the encoder's |ids|, see ShiftedIdsSpec.
  mlir::Value shiftIds(mlir::Value ids);
  TokenBatch makeStackBatch(StackRole role);
  /// Applies the final norm and the final projection of |stack|, if it has them, to |hidden|.
  mlir::Value emitFinal(const StackSpec &stack, mlir::Value hidden);
  void emitStack(StackRole role);
  /// Sets those of |operands| that cross attention reads: the memory, or its sequences alone if its keys and values are
  /// inputs. Sets none if there is no memory.
  void provideMemory(LayerOperands &operands);
  /// If keys and values of earlier tokens are inputs, makes |tokens| continue after these, and sets `totalLength` and
  /// `keySequences` of |operands|. The mask, which covers all keys, moves from `sequences` to `keySequences`.
  void continueAfterPast(TokenBatch &tokens, LayerOperands &operands);
  /// Sets the operands for keys and values of layer |layer| that the entry has as inputs, null for others. Keys of
  /// cross attention replace the memory.
  void providePast(int64_t layer, LayerOperands &operands);
  /// Returns the head mask `[heads]` of layer |layer|: |mask| itself if all layers share it, its row |layer| if it has
  /// a row for each layer, null if |mask| is null.
  mlir::Value headMaskOf(mlir::Value mask, int64_t layer);
  /// Returns the distance bias of |stack| for up to |length| keys, or null if the stack has none.
  mlir::Value emitDistanceBias(const StackSpec &stack, mlir::Value length);
  /// Adds to |mask| `[B, K]` of |length| keys, which may be null, the part of the distance bias of |stack| that depends
  /// on which keys are visible. Returns the sum `[B, H, 1, K]` for H heads (KeyBias), or |mask| itself if there is no
  /// such part.
  mlir::Value addKeyBias(const StackSpec &stack, mlir::Value mask, mlir::Value length);
  /// Returns the values of layer |layer| that outputs need beside the hidden state.
  LayerRequest requestOf(StackRole role, int64_t layer) const;

  /// Returns true if an output has this member of a group.
  bool wanted(EntryOutput::Kind kind, StackRole role, int64_t member) const;
  /// Stores the results of an attention of layer |layer|, whose keys are tokens of |keys|, in the outputs that need
  /// them. |keyDim| is the name of the dimension of its keys; |part| is the index of its keys among the cached tensors
  /// of a layer.
  void captureAttention(EntryOutput::Kind kind, StackRole role, int64_t layer, const AttentionSpec &spec, const AttentionResults &attention,
                        TokenBatch &keys, const std::string &keyDim, int64_t part);
  /// Stores |value| in the outputs that have this member.
  void capture(EntryOutput::Kind kind, StackRole role, int64_t member, const EntryResult &value);
  /// Returns the sizes of |value|, one for each of its dims.
  mlir::SmallVector<mlir::OpFoldResult> extentsOf(const EntryResult &value);
  void finish(mlir::func::FuncOp function);

  // These add arguments that are not inputs of the model: values that the session knows of each sequence, dims, and
  // caches.
  mlir::Value addArgument(mlir::Type type, mlir::StringRef name, mlir::NamedAttribute attribute);
  mlir::Value addRowInput(mlir::xfmr::InputDefault value);
  mlir::Value addDimArgument(mlir::xfmr::SessionDim dim);
  mlir::Value addCache(const std::string &name, bool ofSources, const std::vector<std::string> &rest);
  /// Adds the arguments for the caches of one attention of layer |layer|, and returns them as keys and values.
  CachedKeys addLayerCache(int64_t layer, const AttentionSpec &attention, bool ofSources);
  /// Records that the cache |before| has the new value |after|.
  void updateCache(mlir::Value before, mlir::Value after);
  /// Adds the arguments that tell the slot of each sequence and its number of earlier tokens, appends the mask of
  /// |tokens| to its cache, and makes |tokens| continue after the earlier ones. Returns slots, lengths and mask for
  /// self-attention.
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
