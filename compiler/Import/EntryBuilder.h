//===- EntryBuilder.h - The entries of a model ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Emits `forward` and the entries that use caches: inputs to tokens, embeddings, the layers of each stack, heads, outputs back to padded
// tensors.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_ENTRYBUILDER_H
#define ATTUNE_IMPORT_ENTRYBUILDER_H

#include "compiler/Import/CacheEntries.h"
#include "compiler/Import/HeadSteps.h"
#include "compiler/Import/LayerFunctions.h"

namespace attune {

/// The layer functions of a module, which its entries share.
struct ModelLayers {
  std::optional<LayerFunctions> encoder, decoder;

  ModelLayers(const TransformerSpec &spec, WeightTable &weights);
};

/// `[count]` times |length|, or zeros without it.
mlir::Value emitLengths(EntryScope &scope, mlir::Value count, mlir::Value length = {});

/// Builds one entry; used once.
class EntryBuilder {
public:
  EntryBuilder(const TransformerSpec &spec, const std::vector<EntryInput> &inputs, const std::vector<EntryOutput> &outputs, Padding padding,
               WeightTable &weights, ModelLayers &layers, mlir::ModuleOp module);

  /// Emits the entry called |name|.
  void emit(mlir::StringRef name);
  /// Emits an entry that uses caches, whose inputs and outputs the builder was made with.
  void emit(const CachingEntry &entry);

private:
  /// A stack and what has been computed of it.
  struct Stack {
    std::optional<TokenBatch> tokens;
    mlir::Value result;
  };

  /// A cache: the attribute of its argument, and the value that it has become.
  struct EntryCache {
    mlir::xfmr::CacheAttr attribute;
    mlir::Value value;
  };

  mlir::func::FuncOp createFunction(mlir::StringRef name, mlir::xfmr::CacheUse caches);
  /// Sequences whose padded tensor is |padded| and whose mask is the argument |mask| or null.
  TokenBatch makeBatch(mlir::Value padded, const std::string &lengthDim, mlir::Value mask);
  /// Whether something is given that the stack begins with.
  bool hasSource(StackRole role) const;
  /// The encoder's |ids| one place later, as TransformerSpec::shiftedIds says.
  mlir::Value shiftIds(mlir::Value ids);
  TokenBatch makeStackBatch(StackRole role);
  /// The result of |stack| after its last layer: |hidden| normalized and projected, as far as |stack| says.
  mlir::Value emitFinal(const StackSpec &stack, mlir::Value hidden);
  void emitStack(StackRole role);
  /// What the decoder attends to, as operands of its layers.
  void provideMemory(LayerOperands &operands);
  /// Puts |tokens| after those whose keys are given, if any are.
  void continueAfterPast(TokenBatch &tokens, LayerOperands &operands);
  /// The keys and values of earlier tokens that are given to layer |layer|.
  void providePast(int64_t layer, LayerOperands &operands);
  /// Row |layer| of the head mask |mask|, a mask of all layers, or null.
  mlir::Value headMaskOf(mlir::Value mask, int64_t layer);
  /// What the distances between up to |length| keys add to the scores of |stack|, or null.
  mlir::Value emitDistanceBias(const StackSpec &stack, mlir::Value length);
  /// What outputs want of layer |layer| of a stack.
  LayerRequest requestOf(StackRole role, int64_t layer) const;

  /// Whether an output has this member.
  bool wanted(EntryOutput::Kind kind, StackRole role, int64_t member) const;
  /// Puts what an attention of layer |layer| gave into the outputs that want it; |keyDim| is the length of its keys, which have the number
  /// |part| among those of a layer.
  void captureAttention(EntryOutput::Kind kind, StackRole role, int64_t layer, const AttentionSpec &spec, const AttentionResults &attention,
                        const std::string &keyDim, int64_t part);
  /// Puts |value| into the outputs that have this member.
  void capture(EntryOutput::Kind kind, StackRole role, int64_t member, const EntryResult &value);
  /// The values that an entry result's dims stand for.
  mlir::SmallVector<mlir::OpFoldResult> extentsOf(const EntryResult &value);
  void finish(mlir::func::FuncOp function);

  // Arguments that are no inputs of the model: of any kind, what the session knows of each row, a dim, and caches.
  mlir::Value addArgument(mlir::Type type, mlir::StringRef name, mlir::NamedAttribute attribute);
  mlir::Value addRowInput(mlir::xfmr::InputDefault value);
  mlir::Value addDimArgument(mlir::xfmr::SessionDim dim);
  mlir::Value addCache(const std::string &name, bool ofSources, const std::vector<std::string> &rest);
  /// The keys and values of an attention of layer |layer|.
  CachedKeys addLayerCache(int64_t layer, const AttentionSpec &attention, bool ofSources);
  /// Says that the cache |before| has become |after|.
  void updateCache(mlir::Value before, mlir::Value after);
  /// What layers need to know of the sequences in the slots, |tokens| appended; of the sources.
  CachedKeys emitOwnKeys(TokenBatch &tokens);
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
  /// The decoder's tokens and those before them whose keys are given; null if none are.
  mlir::Value totalLength;
  std::vector<EntryResult> results;
  mlir::func::FuncOp function;
  std::vector<EntryCache> caches;
};

} // namespace attune

#endif // ATTUNE_IMPORT_ENTRYBUILDER_H
