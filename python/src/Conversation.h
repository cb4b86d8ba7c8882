//===- Conversation.h - Chat templates and chats for Python -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_PYTHON_CONVERSATION_H
#define ATTUNE_PYTHON_CONVERSATION_H

#include "TextGeneration.h"
#include "TextHandle.h"

namespace attune::python {

/// A conversation with a model: session, messages and template. Serves one call at a time. Belongs to the process that
/// made it.
class Conversation {
public:
  /// |settings| is as in GenerationCall; |system| is the system message or empty; |variables| is a JSON object of
  /// variables of the template; |templateName| names the template, "" for the default; |context| is the most tokens, 0
  /// for the default; |threads| is as in attune_session_options.
  Conversation(std::shared_ptr<CompiledModel> model, std::shared_ptr<TextHandle> text, const std::string &settings,
               std::optional<std::string> system, std::string variables, const std::string &templateName, int64_t context, int64_t threads);

  Conversation(const Conversation &) = delete;
  Conversation &operator=(const Conversation &) = delete;
  /// Ends the conversation, or abandons it in a child after fork.
  ~Conversation();

  /// Sends |message|. Calls |onText|, unless it is None, with (row, piece) for each piece of the reply; row is 0.
  /// Returns (text, finish, prompt tokens, reused tokens, reply tokens, turns that left), as in attune_chat_reply.
  nb::tuple send(const std::string &message, nb::object onText);
  void reset();
  int64_t context() const { return attune_chat_session_context(handle.get()); }

private:
  struct Destroy {
    void operator()(attune_chat_session *chat) const { attune_chat_session_destroy(chat); }
  };
  /// Marks a conversation as in a call. The GIL does not guard a call, which releases the GIL while it generates.
  class Call;
  void checkProcess() const;

  std::shared_ptr<CompiledModel> model;
  std::shared_ptr<TextHandle> text;
  GenerationCall call;
  std::string variables;
  /// The listener of the call that runs; null without one.
  PieceListener *listener = nullptr;
  std::string problem;
  bool busy = false;
  int process;
  std::unique_ptr<attune_chat_session, Destroy> handle;
};

/// Adds the class Conversation and the function render_chat to |module|.
void bindConversation(nb::module_ &module);

} // namespace attune::python

#endif // ATTUNE_PYTHON_CONVERSATION_H
