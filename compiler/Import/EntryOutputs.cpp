//===- EntryOutputs.cpp - The outputs of an entry -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/EntryOutputs.h"

#include "llvm/ADT/StringExtras.h"

using namespace attune;
using llvm::StringRef;

namespace {

/// A group of outputs: |parts| values of each layer of a stack. Hidden states have one member more, the state after the
/// last layer.
struct Group {
  std::string name;
  EntryOutput::Kind kind;
  StackRole stack;
  int64_t members;
  /// True if all members have the same shape.
  bool uniform;
  /// The number of members that belong to one layer.
  int64_t parts = 1;

  /// Returns the name of a member, as "attentions.1" or "past_key_values.1.0".
  std::string nameOf(int64_t member) const {
    std::string layer = name + "." + std::to_string(member / parts);
    return parts == 1 ? layer : layer + "." + std::to_string(member % parts);
  }
};

} // namespace

/// Adds the group of the attentions that |attentionOf| selects in the layers of |stack|, if each layer has one.
static void addAttentions(std::vector<Group> &groups, std::string name, EntryOutput::Kind kind, StackRole role, const StackSpec &stack,
                          std::optional<AttentionSpec> LayerSpec::*attentionOf) {
  bool uniform = true;
  for (const LayerSpec &layer : stack.layers) {
    if (!(layer.*attentionOf))
      return;
    uniform &= (layer.*attentionOf)->heads == (stack.layers[0].*attentionOf)->heads;
  }
  if (!stack.layers.empty())
    groups.push_back({std::move(name), kind, role, int64_t(stack.layers.size()), uniform});
}

static std::vector<Group> groupsOf(const TransformerSpec &spec) {
  std::vector<Group> groups;
  // With choices, groups would have batch x choices rows, a size that dims cannot express.
  if (spec.choices)
    return groups;
  for (StackRole role : {StackRole::Encoder, StackRole::Decoder}) {
    if (role == StackRole::Encoder ? !spec.encoder : !spec.decoder)
      continue;
    const StackSpec &stack = spec.stack(role);
    std::string prefix = !spec.hasTwoStacks() ? "" : role == StackRole::Encoder ? "encoder_" : "decoder_";
    groups.push_back({prefix + "hidden_states", EntryOutput::HiddenStates, role, int64_t(stack.layers.size()) + 1,
                      /*uniform=*/stack.finalProjection.weight == noWeight});
    addAttentions(groups, prefix + "attentions", EntryOutput::Attentions, role, stack, &LayerSpec::attention);
    addAttentions(groups, "cross_attentions", EntryOutput::CrossAttentions, role, stack, &LayerSpec::cross);
    if (int64_t parts = stack.cachedParts(); parts && !stack.layers.empty())
      groups.push_back({pastGroup, EntryOutput::KeysValues, role, int64_t(stack.layers.size()) * parts, /*uniform=*/false, parts});
  }
  return groups;
}

/// Adds the main output, the group or the member |name| to |outputs|; in place of a group that is not uniform, adds its
/// members. Fails if there is no output of this name.
static Status resolve(const TransformerSpec &spec, const std::string &name, std::vector<EntryOutput> &outputs) {
  std::string known;
  for (size_t i = 0; i < spec.outputs.size(); ++i) {
    if (spec.outputs[i].name == name) {
      outputs.push_back({name, EntryOutput::Main, StackRole::Encoder, int64_t(i)});
      return {};
    }
    known += spec.outputs[i].name + ", ";
  }
  for (const Group &group : groupsOf(spec)) {
    known += group.name + ", ";
    if (name == group.name && group.uniform)
      outputs.push_back({name, group.kind, group.stack, std::nullopt, group.members});
    bool found = name == group.name;
    for (int64_t member = 0; member < group.members; ++member)
      if (std::string own = group.nameOf(member); name == own || (name == group.name && !group.uniform)) {
        outputs.push_back({own, group.kind, group.stack, member, group.members});
        found = true;
      }
    if (found)
      return {};
    StringRef rest = name;
    if (rest.consume_front(group.name + ".") && !rest.empty() && llvm::isDigit(rest.front()))
      return Status::error("output '" + name + "': expected one of " + group.nameOf(0) + " to " + group.nameOf(group.members - 1));
  }
  known.resize(known.size() - 2);
  return Status::error("outputs: expected some of " + known + " or a member as hidden_states.0, got '" + name + "'");
}

Result<std::vector<EntryOutput>> attune::resolveOutputs(const TransformerSpec &spec, const ImportOptions &options) {
  std::vector<std::string> names = options.outputs;
  if (names.empty())
    for (const OutputSpec &output : spec.outputs)
      names.push_back(output.name);
  std::vector<EntryOutput> outputs;
  for (const std::string &name : names) {
    size_t before = outputs.size();
    if (Status status = resolve(spec, name, outputs); status.failed())
      return status;
    for (size_t i = before; i < outputs.size(); ++i)
      for (size_t j = 0; j < before; ++j)
        if (outputs[i].name == outputs[j].name)
          return Status::error("output '" + outputs[i].name + "': expected once, got twice");
  }
  return outputs;
}
