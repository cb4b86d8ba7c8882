//===- EntryOutputs.h - The outputs of an entry -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The values that an entry returns: main outputs, groups (all hidden states, all attention probabilities) or single
// members of a group.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_ENTRYOUTPUTS_H
#define ATTUNE_IMPORT_ENTRYOUTPUTS_H

#include "compiler/Import/ImportOptions.h"
#include "compiler/Import/TransformerSpec.h"

namespace attune {

/// An output of an entry: a main output of the class, a group or a member of a group.
struct EntryOutput {
  enum Kind { Main, HiddenStates, Attentions, CrossAttentions, KeysValues };
  std::string name;
  Kind kind = Main;
  /// The stack of a group or member.
  StackRole stack = StackRole::Encoder;
  /// The number of the main output or of the member; empty for a whole group. For keys and values: the number of the
  /// layer times the number of tensors of a layer, plus the number of the tensor in its layer.
  std::optional<int64_t> index = {};
  /// The number of members of the group.
  int64_t members = 1;

  bool isGroup() const { return kind != Main && !index; }
  /// Returns true if this output is or contains the member |member| of the group |group| of the stack |role|.
  bool wants(Kind group, StackRole role, int64_t member) const { return kind == group && stack == role && (!index || *index == member); }
};

/// Returns the outputs that |options| requests, the main outputs if it requests none. Fails if one is unknown or given
/// twice. A group whose members may differ in shape is returned as its members.
Result<std::vector<EntryOutput>> resolveOutputs(const TransformerSpec &spec, const ImportOptions &options);

} // namespace attune

#endif // ATTUNE_IMPORT_ENTRYOUTPUTS_H
