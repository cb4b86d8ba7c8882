//===- EntryBuilder.h - The entry of an encoder -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Emits `forward`: inputs to tokens, embeddings, the layers, heads, outputs back to padded tensors. Shape letters: B batch, L length, T
// tokens, H hidden.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_ENTRYBUILDER_H
#define ATTUNE_IMPORT_ENTRYBUILDER_H

#include "compiler/Import/EntryInputs.h"
#include "compiler/Import/EntryOutputs.h"
#include "compiler/Import/LayerFunctions.h"

namespace attune {

/// Builds one entry; used once.
class EntryBuilder {
public:
  EntryBuilder(const TransformerSpec &spec, const std::vector<EntryInput> &inputs, const std::vector<EntryOutput> &outputs, Padding padding,
               WeightTable &weights, mlir::ModuleOp module);

  /// Emits the entry called |name|.
  void emit(mlir::StringRef name);

private:
  /// A value on its way out.
  struct Result {
    mlir::Value value;
    std::vector<std::string> dims;
  };

  mlir::Location at(mlir::StringRef name) { return mlir::NameLoc::get(builder.getStringAttr(name)); }
  /// The argument of this role, or null.
  mlir::Value input(InputRole role) const;

  void emitShape();
  void emitSequences();
  mlir::Value emitEmbeddings();
  mlir::Value emitLayers(mlir::Value hidden);
  void emitMainOutput(size_t index, mlir::Value hidden);

  /// `[B, L, …]` as `[T, …]`: joined, and packed if padding is skipped.
  mlir::Value toTokens(mlir::Value padded);
  /// `[T, …]` as `[B, L, …]`.
  mlir::Value toPadded(mlir::Value tokens, bool squeeze = false);
  /// Ids that no input gives: 0, or each token's place in its sequence.
  mlir::Value generateIds(bool positions);
  mlir::Value embed(mlir::Value ids, ParameterId table);
  /// The head mask of layer |layer|, or null.
  mlir::Value headMaskOf(int64_t layer);
  mlir::Value emitStep(const HeadStep &step, mlir::Value value);
  mlir::Value dropout(mlir::Location loc, mlir::Value value, double rate);

  /// Whether an output has this member.
  bool wanted(EntryOutput::Kind kind, int64_t member) const;
  /// Puts |value| `[B, …]` into the outputs that have this member.
  void capture(EntryOutput::Kind kind, int64_t member, int64_t members, mlir::Value value, const std::vector<std::string> &dims);
  void finish(mlir::func::FuncOp function);

  const TransformerSpec &spec;
  const std::vector<EntryInput> &inputs;
  const std::vector<EntryOutput> &outputs;
  Padding padding;
  WeightTable &weights;
  LayerFunctions layers;
  mlir::OpBuilder builder;

  mlir::SmallVector<mlir::Value> arguments;
  mlir::Value batch, length, tokens;
  Sequences sequences;
  /// Where packed tokens stand in the padded batch; null if nothing is packed.
  mlir::Value positions;
  std::vector<Result> results;
};

} // namespace attune

#endif // ATTUNE_IMPORT_ENTRYBUILDER_H
