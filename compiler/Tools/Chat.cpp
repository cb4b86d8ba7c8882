//===- Chat.cpp - The command chat ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A conversation on the terminal or in a pipe: each line of standard input that is not empty is a message; on a
// terminal, a message goes on after a line that ends with a backslash. Replies go to standard output as they come, with
// --json when they are complete. The keys and values of the conversation stay in the cache of the session.
//
//   Ctrl-C   stops a reply, whose text so far stays in the conversation; twice at the prompt for a message, ends the program
//   Ctrl-D   ends the program, as does the end of a pipe
//===----------------------------------------------------------------------===//
#include "attune/text_generation.h"
#include "compiler/Support/Json.h"
#include "compiler/Text/Unicode.h"
#include "compiler/Tools/ChatValues.h"
#include "compiler/Tools/GenerateCall.h"
#include "compiler/Tools/GenerationFlags.h"
#include "compiler/Tools/LineReader.h"
#include "compiler/Tools/TextOutput.h"
#include "compiler/Tools/ToolProcess.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <unistd.h>

using namespace attune;

using OrderedJson = nlohmann::ordered_json;

namespace {

struct ChatOptions {
  std::optional<std::string> system;
  std::vector<std::string> variables;
  /// The variables as the text of a JSON object, made by readVariables.
  std::string object;
  GenerationFlags generation;
  int64_t context = 0, threads = 0;
  bool json = false, verbose = false;
};

/// The conversation of one run of the command.
class ChatRun {
public:
  ChatRun(const CommandHost &host, const Artifact &artifact, ChatOptions &options) : host(host), artifact(artifact), options(options) {}

  Status open();
  Status run();

private:
  Result<bool> readMessage(std::string &message);
  Status answer(const std::string &message);
  void report(const attune_chat_reply &reply, double seconds);

  const CommandHost &host;
  const Artifact &artifact;
  ChatOptions &options;
  std::shared_ptr<attune_text> text;
  std::shared_ptr<attune_chat_session> chat;
  attune_generation_options generation{};
  int64_t context = 0;
  TextOutput output;
  LineReader input;
  InterruptScope interruption;
  bool decorates = false, stopped = false;
};

} // namespace

/// Returns the local date and time. A leap second counts as second 59.
static attune_chat_date currentDate() {
  std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  return {local.tm_year + 1900, local.tm_mon + 1, local.tm_mday, local.tm_hour, local.tm_min, std::min(local.tm_sec, 59)};
}

/// Returns a JSON object of the variables of the command line, NAME=VALUE, where a VALUE that is not JSON is a string.
/// Fails for another form, for bytes that are not UTF-8, and for names that the conversation sets itself.
static Result<std::string> readVariables(const std::vector<std::string> &texts) {
  OrderedJson object = OrderedJson::object();
  for (const std::string &given : texts) {
    size_t equals = given.find('=');
    if (equals == std::string::npos || equals == 0)
      return Status::error("--variable: expected NAME=VALUE, got '" + given + "'");
    const std::string name = given.substr(0, equals), value = given.substr(equals + 1);
    if (!text::isUtf8(given))
      return Status::error("--variable: expected UTF-8, got other bytes");
    for (const char *own : {"messages", "add_generation_prompt"})
      if (name == own)
        return Status::error("--variable: expected another name than '" + name + "', which the conversation sets");
    OrderedJson parsed = OrderedJson::parse(value, nullptr, /*allow_exceptions=*/false);
    object[name] = parsed.is_discarded() ? OrderedJson(value) : parsed;
  }
  return object.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

Status ChatRun::open() {
  if (!attune_model_entry(artifact.model(), "prefill") || attune_model_entry(artifact.model(), "encode"))
    return Status::error(artifact.label() + ": expected a decoder that continues texts, got " + artifact.desc().architecture);
  Result<std::shared_ptr<attune_text>> opened = artifact.openText();
  if (!opened)
    return opened.status();
  text = std::move(*opened);
  if (!attune_text_chat_program(text.get(), nullptr))
    return Status::error(artifact.label() + ": expected a model with a chat template, got none; `" + host.tool +
                         " generate MODEL --prompt=T` continues plain text");
  generation = options.generation.optionsFor(artifact);
  attune_chat_session_options session;
  attune_chat_session_options_init(&session);
  attune_chat_date date = currentDate();
  session.date = &date;
  session.generation = &generation;
  if (options.system)
    session.system = options.system->data(), session.system_bytes = options.system->size();
  session.context = options.context;
  session.num_threads = options.threads;
  session.user = this;
  session.on_text = [](void *self, int64_t, const char *piece, size_t bytes) -> int {
    auto *run = static_cast<ChatRun *>(self);
    if (!run->options.json && !run->output.write({piece, bytes}))
      run->stopped = true;
    return run->stopped || run->interruption.isInterrupted() ? ATTUNE_TOKEN_END_ALL : ATTUNE_TOKEN_GO_ON;
  };
  session.variables = [](void *self, attune_chat *chat) {
    auto *run = static_cast<ChatRun *>(self);
    (void)setChatVariables(chat, run->options.object, "--variable").failed(); // valid, since readVariables made it
  };
  // on_text is not called during beam search and for tokens without text, so on_token looks for an interruption, too.
  generation.user = this;
  generation.on_token = [](void *self, int64_t, int64_t, int64_t) -> int {
    return static_cast<ChatRun *>(self)->interruption.isInterrupted() ? ATTUNE_TOKEN_END_ALL : ATTUNE_TOKEN_GO_ON;
  };
  attune_chat_session *created;
  if (attune_chat_session_create(artifact.model(), text.get(), &session, &created) != ATTUNE_OK)
    return Status::error(artifact.label() + ": " + attune_last_error());
  chat.reset(created, attune_chat_session_destroy);
  context = attune_chat_session_context(created);
  return {};
}

/// Reads the next message that is not empty. Returns false at the end of the input. Fails if the input cannot be read
/// or a line is too long.
Result<bool> ChatRun::readMessage(std::string &message) {
  const char *noColor = std::getenv("NO_COLOR");
  bool colors = !noColor || !*noColor;
  for (message.clear();;) {
    if (decorates) {
      std::fputs(colors ? "\033[1m> \033[0m" : "> ", stdout);
      std::fflush(stdout);
    }
    std::string line;
    switch (input.read(line)) {
    case LineReader::Result::Failed:
      return Status::error(std::string("cannot read standard input: ") + std::strerror(errno));
    case LineReader::Result::TooLong:
      return Status::error("standard input: expected lines of at most " + std::to_string(LineReader::kMostBytes) + " bytes");
    case LineReader::Result::End:
      if (decorates)
        std::fputs("\n", stdout);
      return false;
    case LineReader::Result::Interrupted:
      // The signal stays recorded, so a second one ends the process.
      message.clear();
      if (decorates)
        std::fputs("\n", stdout);
      reportNotice(host.tool, "Ctrl-D ends the conversation, a second Ctrl-C ends the program");
      continue;
    case LineReader::Result::Line:
      break;
    }
    message += line;
    // On a terminal a message may have several lines.
    if (decorates && !line.empty() && line.back() == '\\') {
      message.back() = '\n';
      continue;
    }
    if (!message.empty())
      return true;
  }
}

/// Prints notices about |reply|: that the oldest turns no longer fit into the context, that the end of the context cut
/// the reply off, and, with --verbose, numbers of tokens and the rate over |seconds|, the time of the reply.
void ChatRun::report(const attune_chat_reply &reply, double seconds) {
  if (reply.left_turns > 0)
    reportNotice(host.tool, "the context of " + std::to_string(context) + " tokens is full: the oldest " +
                                (reply.left_turns == 1 ? "turn leaves" : std::to_string(reply.left_turns) + " turns leave") +
                                " the conversation");
  if (reply.finish == ATTUNE_FINISH_LENGTH && reply.prompt_tokens + reply.reply_tokens > context)
    reportNotice(host.tool, "the context of " + std::to_string(context) + " tokens is full: the reply ends there");
  if (options.verbose)
    std::fprintf(stderr, "%s: %lld tokens, of which %lld were in the cache, reply %lld tokens, %.1f tokens/s\n", host.tool.c_str(),
                 static_cast<long long>(reply.prompt_tokens), static_cast<long long>(reply.reused_tokens),
                 static_cast<long long>(reply.reply_tokens), seconds > 0 ? static_cast<double>(reply.reply_tokens) / seconds : 0.0);
}

Status ChatRun::answer(const std::string &message) {
  auto start = std::chrono::steady_clock::now();
  attune_chat_reply reply;
  interruption.clear();
  attune_status status = attune_chat_session_send(chat.get(), message.data(), message.size(), &reply);
  interruption.clear();
  if (status != ATTUNE_OK)
    return Status::error(artifact.label() + ": " + attune_last_error());
  if (options.json)
    output.write(OrderedJson{{"role", "assistant"},
                             {"content", std::string_view(reply.text, reply.bytes)},
                             {"finish", attune_finish_name(reply.finish)},
                             {"prompt_tokens", reply.prompt_tokens},
                             {"reused_tokens", reply.reused_tokens},
                             {"reply_tokens", reply.reply_tokens}}
                     .dump(-1, ' ', false, OrderedJson::error_handler_t::replace));
  if (!output.write("\n"))
    stopped = true;
  report(reply, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return {};
}

Status ChatRun::run() {
  bool interactive = isatty(STDIN_FILENO);
  decorates = interactive && output.isTerminal();
  for (std::string message; !stopped;) {
    Result<bool> isRead = readMessage(message);
    if (!isRead || !*isRead)
      return isRead.status();
    Status status = answer(message);
    if (!status.failed())
      continue;
    if (!interactive)
      return status;
    reportError(host.tool, status.message());
  }
  return {};
}

static Status chatWith(const CommandHost &host, const std::string &model, ChatOptions &options) {
  if (Status status = options.generation.finish(); status.failed())
    return status;
  attune_generation_options given;
  attune_generation_options_init(nullptr, &given);
  options.generation.settings().apply(given);
  if (given.num_return_sequences != 1)
    return Status::error("--num-return-sequences: expected 1 in a conversation, got " + std::to_string(given.num_return_sequences));
  Result<std::string> object = readVariables(options.variables);
  if (!object)
    return object.status();
  options.object = std::move(*object);
  Result<Artifact> artifact = host.openModel(model, generationRequest({}));
  if (!artifact)
    return artifact.status();
  options.generation.warnOfUnread(host, *artifact);
  ChatRun run(host, *artifact, options);
  Status status = run.open();
  return status.failed() ? status : run.run();
}

int attune::runChatCommand(const CommandHost &host, const std::vector<std::string> &arguments) {
  ChatOptions options;
  FlagTable flags;
  flags.addCustom("system", "T", "the system message", [&](const std::string &value) {
    if (options.system)
      return Status::error("expected once, got twice");
    if (!text::isUtf8(value))
      return Status::error("expected UTF-8, got other bytes");
    options.system = value;
    return Status();
  });
  flags.addInteger("context", "N", options.context, 1, INT32_MAX, "most tokens of the conversation (the model's, at most 8192)");
  flags.addRepeated("variable", "NAME=VALUE", options.variables, "a variable of the template: enable_thinking=false");
  flags.addSwitch("json", options.json, "print one JSON object for each reply");
  flags.addSwitch("verbose", options.verbose, "print times and numbers of tokens to stderr");
  addThreadsFlag(flags, options.threads);
  options.generation.addTo(flags);
  std::string model;
  if (std::optional<int> status = parseModelArguments(host, flags, arguments, model, "chat " + host.modelHelp + " [--system=T] [flags]",
                                                      "Replies to the lines of standard input by the model's chat template.\n"
                                                      "Ctrl-C stops a reply, Ctrl-D ends the conversation."))
    return *status;
  Status status = chatWith(host, model, options);
  return status.failed() ? reportError(host.tool, status.message()) : exitDone;
}
