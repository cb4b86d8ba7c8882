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
  /// The value of each of |inputs|: its argument, but a broadcast mask has rank 4, and the dimensions of batch and
  /// choices are joined.
  mlir::SmallVector<mlir::Value> arguments;
  /// The sizes of the first two dimensions of inputs with choices; null without choices.
  mlir::Value rows, choices;
  /// The decoder's ids if they are made from the encoder's, else null.
  mlir::Value shiftedIds;

  mlir::Location at(mlir::StringRef name) { return mlir::NameLoc::get(builder.getStringAttr(name)); }
  /// Returns the value of the input |role| of |stack|, or null. For a decoder that lacks the input, returns the
  /// encoder's head mask if the stacks share it, and |shiftedIds| in place of ids.
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
  /// Returns the value of the input of keys or values with the index |member| (InputSpec::member), or null.
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
