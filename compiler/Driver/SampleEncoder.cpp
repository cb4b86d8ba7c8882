//===- SampleEncoder.cpp - Token ids of texts by a model's tokenizer ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/SampleEncoder.h"
#include "attune/text.h"
#include "compiler/Support/FileKind.h"
#include "compiler/Text/TextFolder.h"
#include "llvm/Support/FileSystem.h"

#include <algorithm>
#include <cstring>

using namespace attune;

/// The bytes of a .text file, at an address that is a multiple of 64 as attune_text_open_memory requires, and the
/// runtime's objects that read them. |mostBytes| is the largest text in bytes that |tokenizer| accepts.
struct SampleEncoder::State {
  struct alignas(64) Block {
    uint8_t bytes[64];
  };
  std::vector<Block> file;
  std::unique_ptr<attune_text, decltype(&attune_text_close)> text{nullptr, attune_text_close};
  size_t mostBytes = 0;
  std::unique_ptr<attune_tokenizer, decltype(&attune_tokenizer_destroy)> tokenizer{nullptr, attune_tokenizer_destroy};
};

SampleEncoder::SampleEncoder(std::unique_ptr<State> state) : state(std::move(state)) {}
SampleEncoder::~SampleEncoder() = default;

Result<std::unique_ptr<SampleEncoder>> SampleEncoder::create(const std::string &model,
                                                             const std::function<void(const std::string &)> &warn) {
  bool hasText = llvm::sys::fs::is_directory(model) || isGgufFile(model);
  std::optional<std::string> compiled = hasText ? text::compileText(model, warn) : std::nullopt;
  if (!compiled)
    return Status::error("expected rows of ids, since '" + model + "' has no tokenizer, got a text");
  auto state = std::make_unique<State>();
  state->file.resize(compiled->size() / sizeof(State::Block) + 1);
  std::memcpy(state->file.data(), compiled->data(), compiled->size());
  attune_text *opened;
  if (attune_text_open_memory(state->file.data(), compiled->size(), &opened) != ATTUNE_OK)
    return Status::error(attune_last_error());
  state->text.reset(opened);
  return std::unique_ptr<SampleEncoder>(new SampleEncoder(std::move(state)));
}

Result<std::vector<int64_t>> SampleEncoder::encode(const std::string &text) {
  if (!state->tokenizer || text.size() > state->mostBytes) {
    attune_tokenizer_options options;
    attune_tokenizer_options_init(&options);
    options.max_call_bytes = std::max(options.max_call_bytes, text.size());
    attune_tokenizer *created;
    if (attune_tokenizer_create(state->text.get(), &options, &created) != ATTUNE_OK)
      return Status::error(attune_last_error());
    state->tokenizer.reset(created);
    state->mostBytes = options.max_call_bytes;
  }
  attune_encode_options options;
  attune_encode_options_init(state->text.get(), &options);
  attune_text_input input = {text.data(), text.size(), nullptr, 0};
  const attune_encoding *encodings;
  size_t count;
  if (attune_tokenizer_encode(state->tokenizer.get(), &input, 1, &options, &encodings, &count) != ATTUNE_OK)
    return Status::error(attune_last_error());
  return std::vector<int64_t>(encodings[0].ids, encodings[0].ids + encodings[0].length);
}
