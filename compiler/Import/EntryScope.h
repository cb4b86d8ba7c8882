//===- EntryScope.h - An entry function that is being built -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_ENTRYSCOPE_H
#define ATTUNE_IMPORT_ENTRYSCOPE_H

#include "compiler/Import/EntryInputs.h"
#include "compiler/Import/WeightTable.h"

namespace attune {

/// An entry that is being built: its insertion point and the values of its inputs.
struct EntryScope {
  const TransformerSpec &spec;
  const std::vector<EntryInput> &inputs;
  Padding padding;
  WeightTable &weights;
  mlir::OpBuilder builder;
  /// The arguments, one for each input.
  mlir::SmallVector<mlir::Value> arguments;
  /// The sizes of the first two dimensions of inputs with choices; null without choices.
  mlir::Value rows, choices;
  /// The decoder's ids if they are made from the encoder's, else null.
  mlir::Value shiftedIds;

  mlir::Location at(mlir::StringRef name) { return mlir::NameLoc::get(builder.getStringAttr(name)); }
  /// Returns the argument of the input |role| of |stack|, or null. If the decoder lacks it, a head mask that the stacks
  /// share is the encoder's, and ids are |shiftedIds|.
  mlir::Value input(InputRole role, StackRole stack) const {
    for (auto [argument, input] : llvm::zip(arguments, inputs))
      if (input.spec->role == role && input.spec->stack == stack)
        return argument;
    if (stack == StackRole::Encoder)
      return {};
    if (role == InputRole::HeadMask && spec.sharesHeadMask)
      return input(role, StackRole::Encoder);
    return role == InputRole::TokenIds ? shiftedIds : mlir::Value();
  }
  /// Returns the argument with keys or values |member| of the decoder, or null.
  mlir::Value past(int64_t member) const {
    for (auto [argument, input] : llvm::zip(arguments, inputs))
      if (input.spec->role == InputRole::PastKeyValues && input.spec->member == member)
        return argument;
    return {};
  }
  mlir::Value weight(WeightId id) { return weights.get(builder, id); }
};

} // namespace attune

#endif // ATTUNE_IMPORT_ENTRYSCOPE_H
