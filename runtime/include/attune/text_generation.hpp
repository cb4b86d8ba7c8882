//===- text_generation.hpp - C++17 wrapper of text generation ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Header only, as runtime.hpp is.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEXT_GENERATION_HPP
#define ATTUNE_TEXT_GENERATION_HPP

#include "attune/generate.hpp"
#include "attune/text_generation.h"

#include <optional>
#include <string_view>

namespace attune {

/// A mapped .text file: tokenizer and chat templates.
class TextFile {
public:
  explicit TextFile(const std::string &path) {
    attune_text *text;
    check(attune_text_open(path.c_str(), &text));
    handle.reset(text);
  }
  attune_text *get() const { return handle.get(); }

private:
  struct Close {
    void operator()(attune_text *text) const { attune_text_close(text); }
  };
  std::unique_ptr<attune_text, Close> handle;
};

/// A callback for pieces of text as they come: (row, piece). It returns false to end the generation there. An exception
/// ends it, too; generateTexts and ChatSession::send rethrow it. Cannot be copied or moved.
class PieceListener {
public:
  using Function = std::function<bool(int64_t row, std::string_view piece)>;

  explicit PieceListener(Function function) : function(std::move(function)) {}
  PieceListener(const PieceListener &) = delete;
  PieceListener &operator=(const PieceListener &) = delete;

  attune_piece_fn callback() const { return function ? call : nullptr; }
  /// Throws the exception that the callback has thrown since the last call of this function, if there is one.
  void rethrow() {
    if (thrown)
      std::rethrow_exception(std::exchange(thrown, nullptr));
  }

private:
  static int call(void *user, int64_t row, const char *piece, size_t bytes) {
    auto *self = static_cast<PieceListener *>(user);
    try {
      return self->function(row, {piece, bytes}) ? ATTUNE_TOKEN_GO_ON : ATTUNE_TOKEN_END_ALL;
    } catch (...) {
      self->thrown = std::current_exception();
      return ATTUNE_TOKEN_END_ALL;
    }
  }

  Function function;
  std::exception_ptr thrown;
};

/// A text of a result.
struct GeneratedText {
  int64_t input = 0; ///< the number of the input from which it was generated
  std::string text;
  std::vector<int64_t> ids;
  double score = 0; ///< the score of the hypothesis; 0 without beams
  attune_finish finish = ATTUNE_FINISH_LENGTH;
};

/// The settings of generateTexts, see attune_text_generation_options.
struct TextSettings {
  PieceListener::Function onText;
  std::string sourceLanguage, targetLanguage; ///< "" = as the tokenizer and the model say
  int64_t newTokens = 0, threads = 0;
  bool addSpecialTokens = true, keepSpecialTokens = false;
};

/// Generates from |inputs| in one batch, see attune_generate_texts.
inline std::vector<GeneratedText> generateTexts(const Model &model, const TextFile &text, GenerationOptions &options,
                                                const std::vector<std::string> &inputs, const TextSettings &settings = {}) {
  PieceListener listener(settings.onText);
  attune_text_generation_options call;
  attune_text_generation_options_init(&call);
  call.generation = &options.c();
  call.on_text = listener.callback();
  call.user = &listener;
  call.add_special_tokens = settings.addSpecialTokens;
  call.keep_special_tokens = settings.keepSpecialTokens;
  call.new_tokens = settings.newTokens;
  call.source_language = settings.sourceLanguage.empty() ? nullptr : settings.sourceLanguage.c_str();
  call.target_language = settings.targetLanguage.empty() ? nullptr : settings.targetLanguage.c_str();
  call.num_threads = settings.threads;
  std::vector<attune_text_input> texts;
  for (const std::string &input : inputs)
    texts.push_back({input.data(), input.size(), nullptr, 0});
  attune_text_generation *generation = nullptr;
  attune_status status = attune_generate_texts(model.get(), text.get(), &call, texts.data(), texts.size(), &generation);
  std::unique_ptr<attune_text_generation, void (*)(attune_text_generation *)> owned(generation, attune_text_generation_free);
  listener.rethrow(); // before the status, so that the next call does not throw it
  options.rethrow();
  check(status);
  std::vector<GeneratedText> results;
  for (size_t i = 0; i < generation->num_texts; ++i) {
    const attune_generated_text &one = generation->texts[i];
    results.push_back({one.input, {one.text, one.bytes}, {one.ids, one.ids + one.num_ids}, one.score, one.finish});
  }
  return results;
}

/// The settings of a conversation, see attune_chat_session_options.
struct ChatSettings {
  std::optional<std::string> system;
  int64_t context = 0, threads = 0; ///< 0 = the defaults
  PieceListener::Function onText;
};

/// A conversation with a model. |options| must outlive it. Cannot be copied or moved.
class ChatSession {
public:
  ChatSession(const Model &model, const TextFile &text, GenerationOptions &options, const ChatSettings &settings = {})
      : options(options), listener(settings.onText) {
    attune_chat_session_options call;
    attune_chat_session_options_init(&call);
    call.generation = &options.c();
    if (settings.system)
      call.system = settings.system->data(), call.system_bytes = settings.system->size();
    call.context = settings.context;
    call.num_threads = settings.threads;
    call.on_text = listener.callback();
    call.user = &listener;
    attune_chat_session *chat;
    check(attune_chat_session_create(model.get(), text.get(), &call, &chat));
    handle.reset(chat);
  }

  /// Sends |message| and returns the reply; counts of tokens are in last().
  std::string send(std::string_view message) {
    attune_status status = attune_chat_session_send(handle.get(), message.data(), message.size(), &reply);
    listener.rethrow();
    options.rethrow();
    check(status);
    return {reply.text, reply.bytes};
  }
  /// Returns the last reply; its text lives until the next call of send.
  const attune_chat_reply &last() const { return reply; }
  /// Forgets all messages but the system message.
  void reset() { attune_chat_session_reset(handle.get()); }

private:
  struct Destroy {
    void operator()(attune_chat_session *chat) const { attune_chat_session_destroy(chat); }
  };
  GenerationOptions &options;
  PieceListener listener;
  std::unique_ptr<attune_chat_session, Destroy> handle;
  attune_chat_reply reply{};
};

} // namespace attune

#endif // ATTUNE_TEXT_GENERATION_HPP
