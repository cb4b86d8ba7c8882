//===- EntryOutputs.cpp - The outputs of an entry -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/EntryOutputs.h"

#include "llvm/ADT/StringExtras.h"

using namespace attune;
using llvm::StringRef;

/// The main output, group or member called |name|.
static Result<EntryOutput> resolve(const TransformerSpec &spec, const std::string &name) {
  std::string known;
  for (size_t i = 0; i < spec.outputs.size(); ++i) {
    if (spec.outputs[i].name == name)
      return EntryOutput{name, EntryOutput::Main, int64_t(i)};
    known += spec.outputs[i].name + ", ";
  }
  int64_t layers = int64_t(spec.encoder.layers.size());
  const std::tuple<StringRef, EntryOutput::Kind, int64_t> groups[] = {{"hidden_states", EntryOutput::HiddenStates, layers + 1},
                                                                      {"attentions", EntryOutput::Attentions, layers}};
  for (const auto &[group, kind, members] : groups) {
    StringRef rest = name;
    if (!rest.consume_front(group) || members == 0)
      continue;
    if (rest.empty())
      return EntryOutput{name, kind, std::nullopt};
    int64_t member;
    if (!rest.consume_front(".") || rest.getAsInteger(10, member))
      continue;
    if (member < 0 || member >= members || std::to_string(member) != rest)
      return Status::error("output '" + name + "': expected a number in 0.." + std::to_string(members - 1) + ", got " + rest.str());
    return EntryOutput{name, kind, member};
  }
  return Status::error("outputs: expected some of " + known + "hidden_states, attentions or a member as hidden_states.0, got '" + name +
                       "'");
}

Result<std::vector<EntryOutput>> attune::resolveOutputs(const TransformerSpec &spec, const ImportOptions &options) {
  std::vector<std::string> names = options.outputs;
  if (names.empty())
    for (const OutputSpec &output : spec.outputs)
      names.push_back(output.name);
  std::vector<EntryOutput> outputs;
  for (const std::string &name : names) {
    Result<EntryOutput> output = resolve(spec, name);
    if (!output)
      return output.status();
    if (llvm::any_of(outputs, [&](const EntryOutput &other) { return other.name == name; }))
      return Status::error("output '" + name + "': expected once, got twice");
    outputs.push_back(std::move(*output));
  }
  return outputs;
}

std::vector<std::string> attune::parseOutputList(std::string_view text) {
  std::vector<std::string> names;
  for (StringRef name : llvm::split(StringRef(text.data(), text.size()), ','))
    if (!name.trim().empty())
      names.push_back(name.trim().str());
  return names;
}
