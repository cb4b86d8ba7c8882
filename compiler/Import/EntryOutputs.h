//===- EntryOutputs.h - The outputs of an entry -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The values that an entry returns: main outputs, groups (such as all hidden states or all attention probabilities) or
// single members of a group.
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
  /// The index of a main output in TransformerSpec::outputs, or of a member in its group; empty for a whole group. The
  /// index of keys or values is the number of the layer times the number of tensors of a layer, plus the number of the
  /// tensor in its layer.
  std::optional<int64_t> index = {};
  /// The number of members of the group; 1 for a main output.
  int64_t members = 1;

  bool isGroup() const { return kind != Main && !index; }
  /// Returns true if this output is or contains the member |member| of the group |group| of the stack |role|.
  bool wants(Kind group, StackRole role, int64_t member) const { return kind == group && stack == role && (!index || *index == member); }
};

/// Returns the outputs that |options| requests, or the main outputs if it requests none. Fails if a requested output is
/// unknown or given twice. A group whose members may differ in shape is returned as its members.
Result<std::vector<EntryOutput>> resolveOutputs(const TransformerSpec &spec, const ImportOptions &options);

} // namespace attune

#endif // ATTUNE_IMPORT_ENTRYOUTPUTS_H
