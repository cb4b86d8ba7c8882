//===- Conversation.cpp - Chat templates and chats for Python -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Conversation.h"
#include "compiler/Tools/ChatValues.h"

#include <ctime>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <unistd.h>

using namespace attune;
using namespace attune::python;

/// Returns the present date and time in the user's time zone.
static attune_chat_date currentDate() {
  std::time_t now = std::time(nullptr);
  std::tm fields = {};
  localtime_r(&now, &fields);
  return {fields.tm_year + 1900, fields.tm_mon + 1, fields.tm_mday, fields.tm_hour, fields.tm_min, std::min(fields.tm_sec, 59)};
}

/// Marks the conversation |owner| as running as long as this object lives. Throws BUSY if the conversation is running
/// already. The GIL must be held when the object is made and destroyed.
class Conversation::Call {
public:
  explicit Call(Conversation &owner) : owner(owner) {
    if (owner.busy)
      throw Error(ATTUNE_BUSY, "the conversation is running another call");
    owner.busy = true;
  }
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;
  ~Call() {
    owner.busy = false;
    owner.listener = nullptr;
  }

private:
  Conversation &owner;
};

Conversation::Conversation(std::shared_ptr<CompiledModel> opened, std::shared_ptr<TextHandle> texts, const std::string &settings,
                           std::optional<std::string> system, std::string variablesText, const std::string &templateName, int64_t context,
                           int64_t threads)
    : model(std::move(opened)), text(std::move(texts)), call(*model, settings, nb::none()), variables(std::move(variablesText)),
      process(getpid()) {
  attune_chat_session_options options;
  attune_chat_session_options_init(&options);
  options.generation = &call.options().c();
  if (system)
    options.system = system->data(), options.system_bytes = system->size();
  options.context = context;
  options.num_threads = threads;
  options.template_name = templateName.empty() ? nullptr : templateName.c_str();
  attune_chat_date date = currentDate();
  options.date = &date;
  options.user = this;
  options.on_text = [](void *user, int64_t row, const char *piece, size_t bytes) -> int {
    auto *self = static_cast<Conversation *>(user);
    if (!self->listener || !self->listener->callback())
      return ATTUNE_TOKEN_GO_ON;
    return self->listener->callback()(self->listener, row, piece, bytes);
  };
  options.variables = [](void *user, attune_chat *chat) {
    auto *self = static_cast<Conversation *>(user);
    if (Status status = setChatVariables(chat, self->variables, "variables"); status.failed())
      self->problem = status.message();
  };
  attune_chat_session *chat;
  attune_status status;
  {
    nb::gil_scoped_release release;
    status = attune_chat_session_create(model->get().get(), text->get(), &options, &chat);
    if (status != ATTUNE_OK)
      throw Error(status, attune_last_error());
  }
  handle.reset(chat);
}

Conversation::~Conversation() {
  // The workers are not in a child after fork, so destroying the session there would wait for them forever.
  if (getpid() != process)
    (void)handle.release();
}

void Conversation::checkProcess() const {
  if (getpid() != process)
    throwInvalid("the conversation was begun before this process was forked; begin one in the child");
}

nb::tuple Conversation::send(const std::string &message, nb::object onText) {
  checkProcess();
  Call running(*this);
  PieceListener pieces(makePieceFunction(onText));
  listener = &pieces;
  problem.clear();
  attune_chat_reply reply;
  {
    nb::gil_scoped_release release;
    check(attune_chat_session_send(handle.get(), message.data(), message.size(), &reply));
  }
  pieces.rethrow();
  call.options().rethrow();
  if (!problem.empty())
    throwInvalid(problem);
  return nb::make_tuple(toText(reply.text, reply.bytes), attune_finish_name(reply.finish), reply.prompt_tokens, reply.reused_tokens,
                        reply.reply_tokens, reply.left_turns);
}

void Conversation::reset() {
  checkProcess();
  Call running(*this);
  attune_chat_session_reset(handle.get());
}

/// Renders a conversation by template |templateName| of |text|, "" for the default. |variables| is a JSON object of the
/// template's variables, `messages` included. Returns the text, and the spans of the assistant as pairs (begin, end) of
/// bytes.
static nb::tuple renderChat(const TextHandle &text, const std::string &variables, const std::string &templateName) {
  size_t bytes;
  const void *program = attune_text_chat_program(text.get(), &bytes);
  if (!program)
    throw Error(ATTUNE_NOT_FOUND, "the tokenizer has no chat template");
  attune_chat_options options;
  attune_chat_options_init(&options);
  options.template_name = templateName.empty() ? nullptr : templateName.c_str();
  attune_chat *opened;
  check(attune_chat_open(program, bytes, &options, &opened));
  std::unique_ptr<attune_chat, void (*)(attune_chat *)> chat(opened, attune_chat_close);
  attune_chat_date date = currentDate();
  check(attune_chat_set_date(opened, &date));
  attune_chat_rendered rendered;
  {
    nb::gil_scoped_release release;
    if (Status status = setChatVariables(opened, variables, "apply_chat_template"); status.failed())
      throwInvalid(status.message());
    check(attune_chat_render(opened, &rendered));
  }
  nb::list spans;
  for (size_t i = 0; i < rendered.num_assistant; ++i)
    spans.append(nb::make_tuple(rendered.assistant[i].begin, rendered.assistant[i].end));
  return nb::make_tuple(toText(rendered.text, rendered.bytes), spans);
}

void python::bindConversation(nb::module_ &module) {
  nb::class_<Conversation>(module, "Conversation")
      .def(nb::init<std::shared_ptr<CompiledModel>, std::shared_ptr<TextHandle>, const std::string &, std::optional<std::string>,
                    std::string, const std::string &, int64_t, int64_t>(),
           nb::arg("model"), nb::arg("text"), nb::arg("settings"), nb::arg("system").none(), nb::arg("variables"), nb::arg("template_name"),
           nb::arg("context"), nb::arg("threads"))
      .def("send", &Conversation::send, nb::arg("message"), nb::arg("on_text").none())
      .def("reset", &Conversation::reset)
      .def("context", &Conversation::context);
  module.def("render_chat", &renderChat, nb::arg("text"), nb::arg("variables"), nb::arg("template_name"));
}
