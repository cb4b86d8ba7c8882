//===- EntryScope.h - An entry function that is being built -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_ENTRYSCOPE_H
#define ATTUNE_IMPORT_ENTRYSCOPE_H

#include "compiler/Import/EntryInputs.h"
#include "compiler/Import/WeightTable.h"

namespace attune {

/// Where the code of an entry goes, and what its arguments mean.
struct EntryScope {
  const TransformerSpec &spec;
  const std::vector<EntryInput> &inputs;
  Padding padding;
  WeightTable &weights;
  mlir::OpBuilder builder;
  /// One for each input.
  mlir::SmallVector<mlir::Value> arguments;
  /// Sizes of the first two dimensions of inputs whose rows are choices; null if there are none.
  mlir::Value rows, choices;
  /// The decoder's ids where they are made of the encoder's, else null.
  mlir::Value shiftedIds;

  mlir::Location at(mlir::StringRef name) { return mlir::NameLoc::get(builder.getStringAttr(name)); }
  /// The argument of this role, or null.
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
  /// The given keys or values |member| of the decoder, or null.
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
