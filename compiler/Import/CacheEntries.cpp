//===- CacheEntries.cpp - Entries that keep keys and values ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/CacheEntries.h"

#include "compiler/Import/HeadSteps.h"

using namespace attune;

static bool isTokenSource(const EntryInput &input) {
  constexpr InputRole sources[] = {InputRole::TokenIds, InputRole::TokenVectors, InputRole::Memory, InputRole::EncoderResult};
  return llvm::is_contained(sources, input.spec->role);
}

/// Returns true if |input| is an input of the encoder, or gives the encoder states that cross attention reads, or their
/// mask.
static bool isOfSources(const EntryInput &input) {
  InputRole role = input.spec->role;
  return input.spec->stack == StackRole::Encoder || role == InputRole::Memory || role == InputRole::MemoryValues ||
         role == InputRole::MemoryMask;
}

/// Returns true if the decoder has cross attention to encoder states that come from an encoder or from an input. The
/// first layer stands for all, since continuesSequences requires that all or none have cross attention.
static bool readsSources(const TransformerSpec &spec, const std::vector<EntryInput> &inputs) {
  return spec.decoder && !spec.decoder->layers.empty() && spec.decoder->layers.front().cross &&
         (spec.encoder || llvm::any_of(inputs, [](const EntryInput &input) { return input.spec->role == InputRole::Memory; }));
}

/// Returns true if there is a decoder with caches and at least one layer, every layer has causal self-attention, no
/// cross attention computes its queries from the encoder states, and all or none of the layers have cross attention.
static bool continuesSequences(const TransformerSpec &spec) {
  if (!spec.decoder || !spec.decoder->cached || spec.decoder->layers.empty())
    return false;
  return llvm::all_of(spec.decoder->layers, [&](const LayerSpec &layer) {
    return layer.attention && layer.attention->causal && !layer.crossFromMemory && bool(layer.cross) == bool(spec.decoder->layers[0].cross);
  });
}

/// Returns true if |input| is a head mask of the encoder that applies to the decoder, too, since |inputs| have none of
/// the decoder.
static bool isSharedHeadMask(const TransformerSpec &spec, const std::vector<EntryInput> &inputs, const EntryInput &input) {
  auto isOwn = [](const EntryInput &other) { return other.spec->role == InputRole::HeadMask && other.spec->stack == StackRole::Decoder; };
  return spec.sharesHeadMask && input.spec->role == InputRole::HeadMask && llvm::none_of(inputs, isOwn);
}

/// Selects from |inputs|, the inputs of `forward`, those that an entry of |kind| takes, and gives them the defaults and
/// dims of this entry. Inputs with tokens (isTokenSource) come first.
static std::vector<EntryInput> inputsOf(CachingEntry::Kind kind, const TransformerSpec &spec, const std::vector<EntryInput> &inputs,
                                        bool positionsGiven, Padding padding) {
  std::vector<EntryInput> chosen;
  for (EntryInput input : inputs) {
    InputRole role = input.spec->role;
    bool encodes = kind == CachingEntry::Encode;
    if ((isOfSources(input) != encodes && !isSharedHeadMask(spec, inputs, input)) ||
        (role == InputRole::Positions && !encodes && !positionsGiven) || (kind == CachingEntry::Decode && isMask(*input.spec)))
      continue;
    if (role == InputRole::Positions && !encodes)
      input.fill = mlir::xfmr::InputDefault::Required;
    bool packs = encodes ? padding == Padding::Skip : kind == CachingEntry::Prefill && !spec.decoder->countsPadding;
    if (isMask(*input.spec) && packs && input.dtype == DType::I64)
      input.fill = mlir::xfmr::InputDefault::Tokens;
    for (std::string &dim : input.dims)
      if (kind == CachingEntry::Decode && dim == spec.lengthDim(StackRole::Decoder))
        dim = "1";
    chosen.insert(isTokenSource(input) ? chosen.begin() : chosen.end(), input);
  }
  return chosen;
}

Status attune::checkContinues(const TransformerSpec &spec) {
  if (spec.choices || !continuesSequences(spec))
    return Status::error("'" + spec.architecture + "' as configured has no decoder whose tokens attend to earlier ones alone: it cannot " +
                         "generate or continue sequences, only run forward");
  return {};
}

/// Checks that sequences of |spec| can be continued with |inputs|, and that |outputs|, the outputs with a row for each
/// token of the decoder, are not empty.
static Status checkContinued(const TransformerSpec &spec, const std::vector<EntryInput> &inputs, const std::vector<EntryOutput> &outputs) {
  if (Status status = checkContinues(spec); status.failed())
    return status;
  for (const EntryInput &input : inputs) {
    // A cache stores one mask value for each key, the same for all queries.
    if (isMask(*input.spec) && input.rank() != 2)
      return Status::error("input '" + input.spec->name + "': expected rank 2 where keys and values are kept, got rank " +
                           std::to_string(input.rank()));
    if (input.spec->role == InputRole::PastKeyValues)
      return Status::error("input '" + input.spec->name + "': expected no such input where keys and values are kept");
  }
  bool hasTokens = llvm::any_of(inputs, [&](const EntryInput &input) {
    return isTokenSource(input) && input.spec->stack == StackRole::Decoder && input.spec->role != InputRole::Memory;
  });
  if (!hasTokens)
    return Status::error("inputs: expected the decoder's tokens where keys and values are kept");
  if (outputs.empty())
    return Status::error("outputs: expected one of each token of the decoder, as logits, where keys and values are kept; groups of layers "
                         "are outputs of 'forward' alone");
  return {};
}

Result<std::vector<CachingEntry>> attune::planCacheEntries(const TransformerSpec &spec, const std::vector<EntryInput> &inputs,
                                                           const std::vector<EntryOutput> &outputs, bool positionsGiven, Padding padding) {
  std::vector<EntryOutput> perToken;
  for (const EntryOutput &output : outputs)
    if (output.kind == EntryOutput::Main)
      if (const OutputSpec &head = spec.outputs[*output.index];
          isPerToken(head) && !head.squeeze && head.stack.value_or(spec.mainStack()) == StackRole::Decoder)
        perToken.push_back(output);
  if (Status status = checkContinued(spec, inputs, perToken); status.failed())
    return status;
  std::vector<CachingEntry> entries;
  bool sources = readsSources(spec, inputs);
  auto add = [&](CachingEntry::Kind kind, const char *name, const std::vector<EntryOutput> &results) {
    entries.push_back({kind, name, inputsOf(kind, spec, inputs, positionsGiven, padding), results, sources});
  };
  if (sources)
    add(CachingEntry::Encode, "encode", {});
  add(CachingEntry::Prefill, "prefill", perToken);
  add(CachingEntry::Extend, "extend", perToken);
  add(CachingEntry::Decode, "decode", perToken);
  return entries;
}
