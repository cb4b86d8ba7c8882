//===- ChatTool.cpp - Renders chat templates for tests --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// usage: attune-test-chat [LOCALE] < REQUESTS > ANSWERS
//
// LOCALE is the locale of numbers (LC_NUMERIC). A request is two lines, each a JSON object. The first has the
// templates, by {"template": TEXT}, {"templates": [[NAME, TEXT], …]} or {"folder": PATH}. It may also have "name" (the
// template to render), "date": [year, month, day, hour, minute, second], "special": [[NAME, TEXT], …] (special tokens,
// not with "folder"), limits ("steps", "memory", "output"), and "render-anyway". The second line has the variables.
//
// An answer is one line: {"text": …, "assistant": [[begin, end], …]}, without "assistant" if there is no range;
// {"refused": [warning, …]} if the compiler warns and the request has no "render-anyway"; or {"error": …, "status": …}.
//===----------------------------------------------------------------------===//
#include "compiler/Support/Json.h"
#include "compiler/Text/ChatTemplates.h"
#include "compiler/Tools/ChatValues.h"

#include <clocale>
#include <cstring>
#include <iostream>
#include <memory>

using namespace attune;

static Json failure(const std::string &message, attune_status status) {
  return {{"error", message}, {"status", attune_status_name(status)}};
}

/// Reads the templates of a request.
static Result<ChatTemplates> readTemplates(const Json &request) {
  if (const Json *folder = findJson(request, "folder"))
    return readChatTemplates(folder->get<std::string>());
  ChatTemplates result;
  if (const Json *source = findJson(request, "template"))
    result.templates.push_back({"default", "request", source->get<std::string>()});
  if (const Json *list = findJson(request, "templates"))
    for (const Json &entry : *list)
      result.templates.push_back({entry[0].get<std::string>(), "request", entry[1].get<std::string>()});
  if (const Json *special = findJson(request, "special"))
    for (const Json &entry : *special)
      result.specialTokens.emplace_back(entry[0].get<std::string>(), entry[1].get<std::string>());
  return result;
}

static Json render(attune_chat *chat, const Json &request, const std::string &variables) {
  if (const Json *date = findJson(request, "date")) {
    attune_chat_date given = {(*date)[0], (*date)[1], (*date)[2], (*date)[3], (*date)[4], (*date)[5]};
    if (attune_status status = attune_chat_set_date(chat, &given); status != ATTUNE_OK)
      return failure(attune_last_error(), status);
  }
  if (Status status = setChatVariables(chat, variables, "variables"); status.failed())
    return failure(status.message(), ATTUNE_INVALID_ARGUMENT);
  attune_chat_rendered rendered;
  if (attune_status status = attune_chat_render(chat, &rendered); status != ATTUNE_OK)
    return failure(attune_last_error(), status);
  Json answer = {{"text", std::string(rendered.text, rendered.bytes)}};
  // A second rendering must give the same text.
  std::string first(rendered.text, rendered.bytes);
  if (attune_chat_render(chat, &rendered) != ATTUNE_OK || first != std::string_view(rendered.text, rendered.bytes))
    return failure("the second rendering differs", ATTUNE_INTERNAL);
  for (size_t i = 0; i < rendered.num_assistant; ++i)
    answer["assistant"].push_back({rendered.assistant[i].begin, rendered.assistant[i].end});
  return answer;
}

static Json answerRequest(const Json &request, const std::string &variables) {
  Result<ChatTemplates> templates = readTemplates(request);
  if (!templates)
    return failure(templates.message(), ATTUNE_INVALID_ARGUMENT);
  std::vector<std::string> warnings;
  std::string program = compileChatTemplates(*templates, warnings);
  if (!warnings.empty() && !findJson(request, "render-anyway"))
    return {{"refused", warnings}};
  // attune_chat_open expects a program at a multiple of 8 bytes.
  std::vector<uint64_t> aligned(program.size() / 8 + 1);
  memcpy(aligned.data(), program.data(), program.size());
  attune_chat_options options;
  attune_chat_options_init(&options);
  std::string name;
  if (const Json *value = findJson(request, "name"))
    options.template_name = (name = value->get<std::string>()).c_str();
  if (const Json *value = findJson(request, "steps"))
    options.max_steps = *value;
  if (const Json *value = findJson(request, "memory"))
    options.memory_bytes = *value;
  if (const Json *value = findJson(request, "output"))
    options.output_bytes = *value;
  attune_chat *chat;
  if (attune_status status = attune_chat_open(aligned.data(), program.size(), &options, &chat); status != ATTUNE_OK)
    return failure(attune_last_error(), status);
  std::unique_ptr<attune_chat, void (*)(attune_chat *)> owner(chat, attune_chat_close);
  return render(chat, request, variables);
}

int main(int argc, char **argv) {
  if (argc > 1 && !std::setlocale(LC_NUMERIC, argv[1])) {
    std::cerr << "attune-test-chat: error: no locale '" << argv[1] << "'\n";
    return 1;
  }
  std::ios::sync_with_stdio(false);
  std::string header, variables;
  while (std::getline(std::cin, header) && std::getline(std::cin, variables)) {
    Result<Json> request = parseJson(header, "request");
    Json answer = request ? answerRequest(*request, variables) : failure(request.message(), ATTUNE_INVALID_ARGUMENT);
    std::cout << answer.dump(-1, ' ', true) << std::endl;
  }
}
