//===- EntryOutputs.h - The outputs of an entry -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Which values of a model an entry returns: main outputs, groups (all hidden states, all attention probabilities) or single members of a
// group.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_ENTRYOUTPUTS_H
#define ATTUNE_IMPORT_ENTRYOUTPUTS_H

#include "compiler/Import/ImportOptions.h"
#include "compiler/Import/TransformerSpec.h"

namespace attune {

/// An output that is known to exist.
struct EntryOutput {
  enum Kind { Main, HiddenStates, Attentions, CrossAttentions, KeysValues };
  std::string name;
  Kind kind = Main;
  /// The stack that a group or its member is of.
  StackRole stack = StackRole::Encoder;
  /// The main output's or the member's number; nothing for a whole group. Of keys and values: the layer times the parts of a layer, plus
  /// the part.
  std::optional<int64_t> index = {};
  /// Members of the group.
  int64_t members = 1;

  bool isGroup() const { return kind != Main && !index; }
  /// Whether the member |member| of group |group| of stack |role| is part of it.
  bool wants(Kind group, StackRole role, int64_t member) const { return kind == group && stack == role && (!index || *index == member); }
};

/// The outputs |options| asks for, checked: each known, none twice. A group whose members may differ in shape is given as its members.
Result<std::vector<EntryOutput>> resolveOutputs(const TransformerSpec &spec, const ImportOptions &options);

} // namespace attune

#endif // ATTUNE_IMPORT_ENTRYOUTPUTS_H
