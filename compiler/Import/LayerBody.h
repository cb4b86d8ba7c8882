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
};

/// What a layer reads beside its weights; null where it has none.
struct LayerOperands {
  mlir::Value hidden; // [T, H]
  Sequences sequences;
  mlir::Value headMask;
  /// What cross attention takes keys from, [M, …], and values if those come from elsewhere.
  mlir::Value memory, memoryValues;
  Sequences memorySequences;

  /// Calls |visit| with a reference to each operand, present or not, in the order of a layer function's arguments.
  template <typename Visit>
  void forEach(Visit visit) {
    for (mlir::Value *value : {&hidden, &sequences.offsets, &sequences.length, &sequences.mask, &headMask, &memory, &memoryValues,
                               &memorySequences.offsets, &memorySequences.length, &memorySequences.mask})
      visit(*value);
  }
};

/// Which results are wanted beside the hidden state.
struct LayerRequest {
  bool probabilities = false;
  bool crossProbabilities = false;
};

struct LayerResults {
  mlir::Value hidden;
  /// Null unless asked for.
  mlir::Value probabilities, crossProbabilities;

  template <typename Visit>
  void forEach(Visit visit) {
    for (mlir::Value *value : {&hidden, &probabilities, &crossProbabilities})
      visit(*value);
  }
};

/// Emits the body of a layer function.
class LayerBody {
public:
  LayerBody(mlir::OpBuilder &builder, const StackSpec &stack, const LayerSpec &layer, const LayerOperands &operands,
            const std::map<WeightId, mlir::Value> &weights)
      : builder(builder), stack(stack), layer(layer), operands(operands), weights(weights) {}

  LayerResults emit(const LayerRequest &request);

private:
  /// One attention: its inputs, and the sequences they belong to.
  struct AttentionInputs {
    mlir::Value query, key, value;
    Sequences queries, keys;
    mlir::Value headMask;
  };

  mlir::Location at(mlir::StringRef part) { return mlir::NameLoc::get(builder.getStringAttr(stack.name + "_layer." + part.str())); }
  mlir::Value weight(WeightId id) const;
  mlir::Value linear(mlir::Location loc, mlir::Value input, const LinearSpec &spec);
  mlir::Value norm(mlir::Value input, mlir::Value residual, const NormSpec &spec, mlir::StringRef part);
  mlir::Value dropout(mlir::Value input, mlir::StringRef part);

  /// A branch |emit| of the layer's |input| with its norm |spec| and residual; |part| names it.
  mlir::Value branch(mlir::Value input, const NormSpec &spec, const std::string &part, llvm::function_ref<mlir::Value(mlir::Value)> emit);
  /// Attention; its probabilities go to |probabilities| if that is not null.
  mlir::Value attention(const AttentionSpec &spec, const AttentionInputs &inputs, const std::string &part, mlir::Value *probabilities);
  mlir::Value feedForward(const FfnSpec &spec, mlir::Value input);

  mlir::OpBuilder &builder;
  const StackSpec &stack;
  const LayerSpec &layer;
  LayerOperands operands;
  const std::map<WeightId, mlir::Value> &weights;
};

} // namespace attune

#endif // ATTUNE_IMPORT_LAYERBODY_H
