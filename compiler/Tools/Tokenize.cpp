//===- Tokenize.cpp - The command tokenize --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements `tokenize`: prints the ids of texts or, with --decode, the texts of ids. Texts are words of the command
// line or the lines of a file.
//===----------------------------------------------------------------------===//
#include "attune/text.h"
#include "compiler/Support/Json.h"
#include "compiler/Tools/TextTask.h"

#include <cstdio>
#include <sstream>

using namespace attune;

using OrderedJson = nlohmann::ordered_json;

namespace {
struct TokenizeOptions {
  std::string file, output;
  std::optional<std::string> pair;
  bool decode = false, noSpecialTokens = false, json = false;
};
} // namespace

/// Parses the ids in |text|, which are separated by spaces or commas.
static Result<std::vector<int32_t>> parseIds(const std::string &text) {
  std::vector<int32_t> ids;
  std::string words = text;
  for (char &c : words)
    c = c == ',' ? ' ' : c;
  std::istringstream stream(words);
  for (std::string word; stream >> word;) {
    Result<int64_t> id = parseInteger(word);
    if (!id || *id < 0 || *id > INT32_MAX)
      return Status::error("--decode: expected ids, got '" + word + "'");
    ids.push_back(int32_t(*id));
  }
  return ids;
}

static OrderedJson describeEncoding(const attune_text *text, const attune_encoding &encoding) {
  OrderedJson ids = OrderedJson::array(), tokens = OrderedJson::array(), offsets = OrderedJson::array();
  for (int64_t i = 0; i < encoding.length; ++i) {
    size_t bytes = 0;
    const char *token = attune_text_token(text, encoding.ids[i], &bytes);
    ids.push_back(encoding.ids[i]);
    tokens.push_back(std::string(token ? token : "", bytes));
    offsets.push_back({encoding.offsets[2 * i], encoding.offsets[2 * i + 1]});
  }
  return {{"ids", ids}, {"tokens", tokens}, {"offsets", offsets}};
}

static Status encodeText(attune_tokenizer *tokenizer, const attune_text *text, const std::string &given, const TokenizeOptions &options) {
  attune_encode_options encode;
  attune_encode_options_init(text, &encode);
  encode.add_special_tokens = !options.noSpecialTokens;
  encode.want_offsets = options.json;
  attune_text_input input = {given.data(), given.size(), nullptr, 0};
  if (options.pair) {
    input.pair = options.pair->data();
    input.pair_bytes = options.pair->size();
  }
  const attune_encoding *encodings;
  size_t count;
  if (attune_tokenizer_encode(tokenizer, &input, 1, &encode, &encodings, &count) != ATTUNE_OK)
    return Status::error(attune_last_error());
  if (options.json) {
    std::printf("%s\n", describeEncoding(text, encodings[0]).dump(-1, ' ', false, OrderedJson::error_handler_t::replace).c_str());
    return {};
  }
  for (int64_t i = 0; i < encodings[0].length; ++i)
    std::printf(i ? " %d" : "%d", encodings[0].ids[i]);
  std::printf("\n");
  return {};
}

static Status decodeIds(attune_tokenizer *tokenizer, const std::string &model, const std::string &given, const TokenizeOptions &options) {
  Result<std::vector<int32_t>> ids = parseIds(given);
  if (!ids)
    return ids.status();
  const char *decoded;
  size_t bytes;
  if (attune_tokenizer_decode(tokenizer, ids->data(), ids->size(), options.noSpecialTokens, &decoded, &bytes) != ATTUNE_OK)
    return Status::error(model + ": " + attune_last_error());
  if (options.json)
    std::printf("%s\n",
                OrderedJson{{"text", std::string(decoded, bytes)}}.dump(-1, ' ', false, OrderedJson::error_handler_t::replace).c_str());
  else // the text may contain NUL
    std::fwrite((std::string(decoded, bytes) + '\n').data(), 1, bytes + 1, stdout);
  return {};
}

static Status tokenize(const CommandHost &host, const std::string &model, std::vector<std::string> texts, const TokenizeOptions &options) {
  if (!options.output.empty()) {
    if (!texts.empty() || !options.file.empty() || options.pair || options.decode || options.json || options.noSpecialTokens)
      return Status::error("--output: not with texts or other flags, since it writes the tokenizer itself");
    return host.writeText(model, options.output);
  }
  Result<std::vector<std::string>> gathered = gatherTexts(texts, options.file);
  if (!gathered)
    return gathered.status();
  texts = std::move(*gathered);
  if (options.pair && (options.decode || texts.size() != 1))
    return Status::error(options.decode ? "--pair: not with --decode" : "--pair: expected one text, got " + std::to_string(texts.size()));
  Result<std::shared_ptr<attune_text>> text = host.openText(model);
  if (!text)
    return text.status();
  attune_tokenizer_options tokenizerOptions;
  attune_tokenizer_options_init(&tokenizerOptions);
  for (const std::string &given : texts)
    tokenizerOptions.max_call_bytes = std::max(tokenizerOptions.max_call_bytes, given.size() + (options.pair ? options.pair->size() : 0));
  attune_tokenizer *created;
  if (attune_tokenizer_create(text->get(), &tokenizerOptions, &created) != ATTUNE_OK)
    return Status::error(model + ": " + attune_last_error());
  std::shared_ptr<attune_tokenizer> tokenizer(created, attune_tokenizer_destroy);
  for (const std::string &given : texts)
    if (Status status = options.decode ? decodeIds(created, model, given, options) : encodeText(created, text->get(), given, options);
        status.failed())
      return status;
  return {};
}

Result<std::shared_ptr<attune_text>> attune::openTextFile(const std::string &path) {
  attune_text *text;
  if (attune_text_open(path.c_str(), &text) != ATTUNE_OK)
    return Status::error(attune_last_error());
  return std::shared_ptr<attune_text>(text, attune_text_close);
}

int attune::runTokenizeCommand(const CommandHost &host, const std::vector<std::string> &arguments) {
  TokenizeOptions options;
  FlagTable flags;
  flags.addString("file", "F", options.file, "a file of texts, one on each line; - is standard input");
  flags.addCustom("pair", "T", "the second text of a pair", [&](const std::string &value) {
    options.pair = value;
    return Status();
  });
  flags.addSwitch("decode", options.decode, "the texts are ids, which are turned into text");
  flags.addSwitch("no-special-tokens", options.noSpecialTokens, "do not add special tokens; with --decode, leave them out");
  flags.addSwitch("json", options.json, "print one JSON object for each text: ids, tokens and offsets in characters");
  if (host.writeText)
    flags.addString("output", "F", options.output, "write the compiled tokenizer, a .text file, instead of ids");
  std::vector<std::string> positional;
  if (std::optional<int> status =
          parseArguments(host, flags, arguments, positional, "tokenize " + host.textHelp + " [TEXT...|--file=F|-] [flags]",
                         "Turns texts into the ids of a model's tokenizer, or back with --decode."))
    return *status;
  if (positional.empty())
    return reportError(host.tool, "expected a tokenizer, " + host.textHelp);
  Status status = tokenize(host, positional[0], {positional.begin() + 1, positional.end()}, options);
  return status.failed() ? reportError(host.tool, status.message()) : exitDone;
}
