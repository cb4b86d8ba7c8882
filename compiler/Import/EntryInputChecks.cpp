//===- EntryInputChecks.cpp - Inputs that do not go together --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/EntryInputs.h"

#include "llvm/ADT/STLExtras.h"

using namespace attune;

/// Whether |inputs| have the keys and values of earlier tokens for all layers or for none, those of the memory likewise.
static Status checkPast(const TransformerSpec &spec, const std::vector<EntryInput> &inputs, Padding padding) {
  const InputSpec *some[2] = {}, *lacking[2] = {};
  for (const InputSpec &input : spec.inputs) {
    if (input.role != InputRole::PastKeyValues)
      continue;
    bool given = llvm::any_of(inputs, [&](const EntryInput &other) { return other.spec == &input; });
    const InputSpec *&first = (given ? some : lacking)[input.member % spec.decoder->cachedParts() / 2];
    first = first ? first : &input;
  }
  for (size_t i : {0, 1})
    if (const InputSpec *given = some[i]; given && lacking[i])
      return Status::error("inputs: expected '" + lacking[i]->name + "' beside '" + given->name + "', which is missing");
  if (some[1] && !some[0])
    return Status::error("inputs: expected '" + lacking[0]->name + "' beside '" + some[1]->name + "', which is missing");
  if (some[0] && padding == Padding::Skip)
    return Status::error("input '" + some[0]->name + "': expected no keys of earlier tokens when padding is skipped");
  return {};
}

/// Whether |inputs| have what cross attention would otherwise compute of the memory.
static bool hasMemoryKeys(const TransformerSpec &spec, const std::vector<EntryInput> &inputs) {
  return llvm::any_of(inputs, [&](const EntryInput &input) {
    return input.spec->role == InputRole::PastKeyValues && input.spec->member % spec.decoder->cachedParts() > 1;
  });
}

/// Whether the decoder's tokens are made of the encoder's. A mask of its own would have nothing to be a mask of.
static bool takesShiftedIds(const TransformerSpec &spec, const std::vector<EntryInput> &inputs) {
  bool hasIds = false, hasOthers = false;
  for (const EntryInput &input : inputs) {
    hasIds |= input.spec->role == InputRole::TokenIds && input.spec->stack == StackRole::Encoder;
    hasOthers |= (input.spec->role == InputRole::AttentionMask && input.spec->stack == StackRole::Decoder) ||
                 input.spec->role == InputRole::PastKeyValues;
  }
  return spec.decoderStart && hasIds && !hasOthers;
}

/// Whether |inputs| have no mask of heads whose numbers differ between layers.
static Status checkHeadMasks(const TransformerSpec &spec, const std::vector<EntryInput> &inputs) {
  for (const EntryInput &input : inputs) {
    if (input.spec->role != InputRole::HeadMask && input.spec->role != InputRole::CrossHeadMask)
      continue;
    const auto attention = input.spec->role == InputRole::HeadMask ? &LayerSpec::attention : &LayerSpec::cross;
    const std::vector<LayerSpec> &layers = spec.stack(input.spec->stack).layers;
    for (const LayerSpec &layer : layers)
      if ((layer.*attention)->heads != (layers.front().*attention)->heads)
        return Status::error("input '" + input.spec->name + "': expected no such input where layers have different numbers of heads");
  }
  return {};
}

/// Whether each stack has exactly one source of tokens, and padding can be skipped if asked.
static Status checkTogether(const TransformerSpec &spec, const std::vector<EntryInput> &inputs, Padding padding) {
  for (StackRole stack : {StackRole::Encoder, StackRole::Decoder}) {
    if (stack == StackRole::Encoder ? !spec.encoder : !spec.decoder)
      continue;
    auto isSource = [&](const InputSpec &input) {
      return input.stack == stack && (input.role == InputRole::TokenIds || input.role == InputRole::TokenVectors ||
                                      input.role == InputRole::Image || input.role == InputRole::EncoderResult);
    };
    std::string sources;
    for (const InputSpec &input : spec.inputs)
      if (isSource(input))
        sources += (sources.empty() ? "" : " and ") + input.name;
    auto count = llvm::count_if(inputs, [&](const EntryInput &input) { return isSource(*input.spec); });
    if (count == 0 && (stack == StackRole::Encoder ? hasMemoryKeys(spec, inputs) : takesShiftedIds(spec, inputs)))
      continue;
    if (count != 1)
      return Status::error("inputs: expected exactly one of " + sources + ", got " + (count > 2 ? "all" : count ? "both" : "neither"));
  }
  for (const EntryInput &input : inputs) {
    if (padding == Padding::Skip && isMask(*input.spec) && input.spec->broadcast)
      return Status::error("input '" + input.spec->name + "': expected no such input when padding is skipped, as it is not one of tokens");
    int64_t rank = spec.choices ? 3 : 2;
    if (padding == Padding::Skip && isMask(*input.spec) && (input.rank() != rank || input.dtype != DType::I64))
      return Status::error("input '" + input.spec->name + "': expected rank " + std::to_string(rank) +
                           " and I64 when padding is skipped, got rank " + std::to_string(input.rank()) + " and " + dtypeName(input.dtype));
  }
  return {};
}

Status attune::checkInputs(const TransformerSpec &spec, const std::vector<EntryInput> &inputs, Padding padding) {
  for (Status status : {checkPast(spec, inputs, padding), checkTogether(spec, inputs, padding), checkHeadMasks(spec, inputs)})
    if (status.failed())
      return status;
  return {};
}
