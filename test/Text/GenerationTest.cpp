//===- GenerationTest.cpp - Texts and conversations of a toy decoder ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attune-test-text-generation LETTERS.text: compares the search for random stop strings with a search in the whole
// text, generated texts with decoded ids, and conversations with generations from their whole text. The models are
// those of ToyDecoder.h, whose logits are a function of all ids. Writes their weights to LETTERS.text.weights.
//===----------------------------------------------------------------------===//
#include "attune/text_generation.h"
#include "Check.h"
#include "FakeModel.h"
#include "runtime/text/generation/StopMatcher.h"
#include "ToyDecoder.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

using Ids = std::vector<int64_t>;

static attune_model *model, *translator;
static attune_text *text;

//===--- Stop strings ------------------------------------------------------===//

/// Finds the stop string that ends first in |whole|, the longest of several that end there. Returns the offset at which
/// it begins, npos if |whole| has none.
static size_t findStop(const std::string &whole, const std::vector<std::string> &stops) {
  for (size_t end = 1; end <= whole.size(); ++end) {
    size_t longest = 0;
    for (const std::string &stop : stops)
      if (stop.size() <= end && whole.compare(end - stop.size(), stop.size(), stop) == 0)
        longest = std::max(longest, stop.size());
    if (longest)
      return end - longest;
  }
  return std::string::npos;
}

static void testStops() {
  std::mt19937 random(1);
  auto pick = [&](size_t low, size_t high) { return low + random() % (high - low + 1); };
  auto letters = [&](size_t size) {
    std::string result;
    while (result.size() < size)
      result += "ab\n"[random() % 3];
    return result;
  };
  for (int trial = 0; trial < 20000; ++trial) {
    std::vector<std::string> stops(pick(0, 3));
    std::vector<const char *> pointers;
    for (std::string &stop : stops)
      pointers.push_back((stop = letters(pick(1, 6))).c_str());
    attune::text::StopSet set;
    std::vector<uint64_t> memory(attune::text::StopSet::memoryBytes(pointers.data(), stops.size()) / 8 + 1);
    set.open(pointers.data(), stops.size(), memory.data());
    std::vector<size_t> states(stops.size() + 1);
    attune::text::StopMatcher matcher;
    matcher.open(set, states.data());
    std::string whole = letters(pick(0, 30)), shown;
    auto show = [&](const char *data, size_t size) {
      CHECK(size > 0);
      shown.append(data, size);
    };
    bool stopped = false;
    size_t begin = 0, longest = 0;
    for (const std::string &stop : stops)
      longest = std::max(longest, stop.size());
    while (begin < whole.size() && !stopped) {
      size_t size = std::min(pick(1, 5), whole.size() - begin);
      stopped = matcher.add(whole.data() + begin, size, show);
      begin += size;
      // The matcher holds back no more bytes than the longest stop string has.
      CHECK(stopped || shown.size() + longest >= begin);
    }
    size_t expected = findStop(whole, stops);
    CHECK(stopped == (expected != std::string::npos));
    if (!stopped)
      matcher.finish(show);
    CHECK(shown == (stopped ? whole.substr(0, expected) : whole));
  }
}

//===--- Texts -------------------------------------------------------------===//

static std::string decode(const Ids &ids) {
  attune_tokenizer *tokenizer;
  CHECK_OK(attune_tokenizer_create(text, nullptr, &tokenizer));
  std::vector<int32_t> narrow(ids.begin(), ids.end());
  const char *decoded;
  size_t bytes;
  CHECK_OK(attune_tokenizer_decode(tokenizer, narrow.data(), narrow.size(), 1, &decoded, &bytes));
  std::string result(decoded, bytes);
  attune_tokenizer_destroy(tokenizer);
  return result;
}

static Ids encode(const std::string &given) {
  attune_tokenizer *tokenizer;
  CHECK_OK(attune_tokenizer_create(text, nullptr, &tokenizer));
  attune_text_input input{given.data(), given.size(), nullptr, 0};
  const attune_encoding *encodings;
  size_t count;
  CHECK_OK(attune_tokenizer_encode(tokenizer, &input, 1, nullptr, &encodings, &count));
  Ids ids(encodings[0].ids, encodings[0].ids + encodings[0].length);
  attune_tokenizer_destroy(tokenizer);
  return ids;
}

static attune_generation_options defaults() {
  static const int64_t ends[] = {2};
  attune_generation_options options;
  attune_generation_options_init(model, &options);
  options.eos_token_ids = ends, options.num_eos_token_ids = 1;
  options.max_new_tokens = 12;
  return options;
}

/// Returns the ids that attune_generate appends to |prompt|, the only row of the call.
static Ids generateIds(attune_generation_options options, Ids prompt) {
  const int64_t shape[] = {1, static_cast<int64_t>(prompt.size())};
  attune_tensor input{"input_ids", ATTUNE_I64, 2, shape, prompt.data(), prompt.size() * sizeof(int64_t)};
  attune_dim_limit limits[ATTUNE_MAX_GENERATION_LIMITS];
  attune_session_options sessionOptions;
  attune_session_options_init(&sessionOptions);
  sessionOptions.limits = limits;
  CHECK_OK(attune_generation_limits(model, &options, &input, 1, limits, &sessionOptions.num_limits));
  attune_session *session;
  CHECK_OK(attune_session_create(model, &sessionOptions, &session));
  attune_generation *generation;
  CHECK_OK(attune_generate(session, &options, &input, 1, &generation));
  Ids ids(generation->sequences + prompt.size(), generation->sequences + generation->length);
  attune_generation_free(generation);
  attune_session_destroy(session);
  return ids;
}

struct Result {
  std::string text, pieces;
  Ids ids;
  attune_finish finish;
};

static std::vector<Result> generateTexts(const attune_generation_options &options, const std::vector<std::string> &prompts,
                                         attune_model *used = nullptr) {
  attune_text_generation_options call;
  attune_text_generation_options_init(&call);
  call.generation = &options;
  std::vector<std::string> pieces(prompts.size() * 8);
  call.user = &pieces;
  call.on_text = [](void *user, int64_t row, const char *piece, size_t bytes) -> int {
    CHECK(bytes > 0 && (static_cast<unsigned char>(*piece) & 0xC0) != 0x80);
    (*static_cast<std::vector<std::string> *>(user))[static_cast<size_t>(row)].append(piece, bytes);
    return ATTUNE_TOKEN_GO_ON;
  };
  std::vector<attune_text_input> inputs;
  for (const std::string &prompt : prompts)
    inputs.push_back({prompt.data(), prompt.size(), nullptr, 0});
  attune_text_generation *generation;
  CHECK_OK(attune_generate_texts(used ? used : model, text, &call, inputs.data(), inputs.size(), &generation));
  std::vector<Result> results;
  for (size_t i = 0; i < generation->num_texts; ++i) {
    const attune_generated_text &one = generation->texts[i];
    CHECK(one.text[one.bytes] == '\0');
    results.push_back({{one.text, one.bytes}, pieces[i], {one.ids, one.ids + one.num_ids}, one.finish});
    CHECK(results.back().text == results.back().pieces);
  }
  attune_text_generation_free(generation);
  return results;
}

/// Checks that a generated text is the decoded text of its ids, and the same for a prompt alone and in a batch. Checks
/// that stop strings cut it where they begin.
static void testTexts() {
  const std::vector<std::string> prompts = {"ab", "fédc", "h", "abc", "e", "ddda", "cé", "f"};
  std::vector<Result> alone;
  int ended = 0, accented = 0;
  for (const std::string &prompt : prompts) {
    Ids ids = generateIds(defaults(), encode(prompt));
    Result result = generateTexts(defaults(), {prompt})[0];
    bool hasEnd = ids.back() == 2;
    CHECK(result.ids == ids && result.finish == (hasEnd ? ATTUNE_FINISH_END : ATTUNE_FINISH_LENGTH));
    CHECK(result.text == decode(ids));
    ended += hasEnd, accented += result.text.find("é") != std::string::npos;
    alone.push_back(result);
  }
  CHECK(ended > 0 && ended < 8 && accented > 0);
  std::vector<Result> together = generateTexts(defaults(), prompts);
  for (size_t i = 0; i < prompts.size(); ++i)
    CHECK(together[i].text == alone[i].text && together[i].ids == alone[i].ids && together[i].finish == alone[i].finish);
  // Stop strings are all parts of one to three bytes of each text, except those that cut the two bytes of an é. They
  // may begin in one token and end in another.
  for (size_t size = 1; size <= 3; ++size)
    for (const Result &result : alone)
      for (size_t begin = 0; begin + size <= result.text.size(); ++begin) {
        std::string stop = result.text.substr(begin, size);
        if ((static_cast<unsigned char>(stop[0]) & 0xC0) == 0x80 || static_cast<unsigned char>(stop.back()) == 0xC3)
          continue;
        const char *stops[] = {"never", stop.c_str()};
        attune_generation_options options = defaults();
        options.stop_strings = stops, options.num_stop_strings = 2;
        std::vector<Result> cut = generateTexts(options, prompts);
        for (size_t i = 0; i < prompts.size(); ++i) {
          size_t at = alone[i].text.find(stop);
          CHECK(cut[i].text == alone[i].text.substr(0, at));
          CHECK(cut[i].finish == (at == std::string::npos ? alone[i].finish : ATTUNE_FINISH_STOP));
          CHECK(cut[i].ids.size() <= alone[i].ids.size());
        }
      }
  // The special token <end> as a stop string ends the texts that it ended as an end id.
  attune_generation_options options = defaults();
  options.num_eos_token_ids = 0;
  const char *stops[] = {"<end>"};
  options.stop_strings = stops, options.num_stop_strings = 1;
  std::vector<Result> stopped = generateTexts(options, prompts);
  for (size_t i = 0; i < prompts.size(); ++i)
    CHECK(stopped[i].text == alone[i].text && (stopped[i].finish == ATTUNE_FINISH_STOP) == (alone[i].finish == ATTUNE_FINISH_END));
}

static void testBeamsAndSequences() {
  attune_generation_options options = defaults();
  options.num_beams = 3, options.num_return_sequences = 2;
  std::vector<Result> results = generateTexts(options, {"ab", "f"});
  CHECK(results.size() == 4 && results[0].text != results[1].text);
  for (const Result &result : results)
    CHECK(result.text == decode(result.ids));
  options = defaults();
  options.do_sample = 1, options.num_return_sequences = 3, options.seed = 5;
  results = generateTexts(options, {"ab"});
  CHECK(results.size() == 3 && results[0].text == generateTexts(options, {"ab"})[0].text);
  // The text of an encoder-decoder does not contain the text of its source.
  attune_generation_options start = defaults();
  start.decoder_start_token_id = 1;
  results = generateTexts(start, {"abc", "f"}, translator);
  CHECK(results.size() == 2 && results[0].text == generateTexts(start, {"abc"}, translator)[0].text);
}

/// Tests callbacks that end a row or the generation, and settings that fail.
static void testCallbacksAndErrors() {
  attune_text_generation_options call;
  attune_text_generation_options_init(&call);
  attune_generation_options options = defaults();
  options.num_eos_token_ids = 0;
  call.generation = &options;
  attune_text_input inputs[] = {{"ab", 2, nullptr, 0}, {"f", 1, nullptr, 0}};
  attune_text_generation *generation;
  CHECK_OK(attune_generate_texts(model, text, &call, inputs, 2, &generation));
  Ids whole(generation->texts[0].ids, generation->texts[0].ids + generation->texts[0].num_ids);
  CHECK(whole.size() == 12 && generation->prompt_tokens == 3);
  attune_text_generation_free(generation);
  call.on_text = [](void *, int64_t row, const char *, size_t) -> int { return row == 0 ? ATTUNE_TOKEN_END_ROW : ATTUNE_TOKEN_GO_ON; };
  CHECK_OK(attune_generate_texts(model, text, &call, inputs, 2, &generation));
  CHECK(generation->texts[0].finish == ATTUNE_FINISH_CALLBACK && generation->texts[1].finish == ATTUNE_FINISH_LENGTH);
  CHECK(generation->texts[0].num_ids < 12 && generation->texts[1].num_ids == 12);
  attune_text_generation_free(generation);
  call.on_text = [](void *, int64_t, const char *, size_t) -> int { return ATTUNE_TOKEN_END_ALL; };
  CHECK_OK(attune_generate_texts(model, text, &call, inputs, 2, &generation));
  CHECK(generation->texts[0].finish == ATTUNE_FINISH_CALLBACK && generation->texts[1].finish == ATTUNE_FINISH_CALLBACK);
  attune_text_generation_free(generation);
  // Of the answers of on_token and on_text the stronger counts. An answer that is not in attune_token_answer ends the
  // generation.
  options.on_token = [](void *, int64_t row, int64_t, int64_t) -> int { return row == 0 ? ATTUNE_TOKEN_END_ROW : ATTUNE_TOKEN_GO_ON; };
  call.on_text = [](void *, int64_t row, const char *, size_t) -> int { return row == 0 ? 77 : ATTUNE_TOKEN_GO_ON; };
  CHECK_OK(attune_generate_texts(model, text, &call, inputs, 2, &generation));
  CHECK(generation->texts[0].finish == ATTUNE_FINISH_CALLBACK && generation->texts[1].finish == ATTUNE_FINISH_CALLBACK);
  attune_text_generation_free(generation);
  options.on_token = nullptr;
  // With beams, on_text gets the texts after the search, each until on_text ends its row.
  options.num_beams = 2;
  static int64_t calls[2];
  call.on_text = [](void *, int64_t row, const char *, size_t) -> int { return ++calls[row], ATTUNE_TOKEN_END_ROW; };
  CHECK_OK(attune_generate_texts(model, text, &call, inputs, 2, &generation));
  for (int64_t row = 0; row < 2; ++row)
    CHECK(calls[row] == 1 && generation->texts[row].finish == ATTUNE_FINISH_CALLBACK && generation->texts[row].num_ids < 12);
  attune_text_generation_free(generation);
  call.on_text = [](void *, int64_t row, const char *, size_t) -> int { return ++calls[row], ATTUNE_TOKEN_END_ALL; };
  CHECK_OK(attune_generate_texts(model, text, &call, inputs, 2, &generation));
  CHECK(calls[0] == 2 && generation->texts[0].finish == ATTUNE_FINISH_CALLBACK && generation->texts[0].num_ids < 12);
  attune_text_generation_free(generation);
  options.num_beams = 1;
  call.on_text = nullptr;
  // A slot has room for 24 tokens: the 2 of the prompt and 22 new ones. The last new token is not stored.
  call.new_tokens = 1000;
  CHECK_OK(attune_generate_texts(model, text, &call, inputs, 1, &generation));
  CHECK(generation->texts[0].num_ids == 23 && generation->texts[0].finish == ATTUNE_FINISH_LENGTH);
  attune_text_generation_free(generation);
  call.new_tokens = -1;
  CHECK_FAILS(attune_generate_texts(model, text, &call, inputs, 1, &generation), ATTUNE_INVALID_ARGUMENT, "new_tokens is -1");
  CHECK(!generation);
  call.new_tokens = 0;
  attune_text_input bad{"a\xC3(", 3, nullptr, 0}, empty{"", 0, nullptr, 0};
  CHECK_FAILS(attune_generate_texts(model, text, &call, &bad, 1, &generation), ATTUNE_INVALID_ARGUMENT, "expected UTF-8");
  CHECK_FAILS(attune_generate_texts(model, text, &call, &empty, 1, &generation), ATTUNE_INVALID_ARGUMENT, "has no token");
  options.bos_token_id = 3;
  CHECK_OK(attune_generate_texts(model, text, &call, &empty, 1, &generation));
  attune_text_generation_free(generation);
  const char *stops[] = {"a", ""};
  options.stop_strings = stops, options.num_stop_strings = 2;
  CHECK_FAILS(attune_generate_texts(model, text, &call, inputs, 1, &generation), ATTUNE_INVALID_ARGUMENT, "stop_strings: text 1 is empty");
  options.num_stop_strings = 1, options.num_beams = 2;
  CHECK_FAILS(attune_generate_texts(model, text, &call, inputs, 1, &generation), ATTUNE_INVALID_ARGUMENT,
              "stop_strings with num_beams = 2 are not supported");
  options.num_stop_strings = 1, options.stop_strings = nullptr, options.num_beams = 1;
  CHECK_FAILS(attune_generate_texts(model, text, &call, inputs, 1, &generation), ATTUNE_INVALID_ARGUMENT, "stop_strings is null");
  options.num_stop_strings = 0;
  call.target_language = "fr_XX";
  CHECK_FAILS(attune_generate_texts(model, text, &call, inputs, 1, &generation), ATTUNE_INVALID_ARGUMENT,
              "the model is no encoder-decoder");
  CHECK_FAILS(attune_generate_texts(translator, text, &call, inputs, 1, &generation), ATTUNE_INVALID_ARGUMENT,
              "the tokenizer has no target language 'fr_XX'");
  call.struct_bytes = 3;
  CHECK_FAILS(attune_generate_texts(model, text, &call, inputs, 1, &generation), ATTUNE_INVALID_ARGUMENT, "struct_bytes");
  CHECK_FAILS(attune_generate_texts(model, text, nullptr, inputs, 0, &generation), ATTUNE_INVALID_ARGUMENT, "at least one text");
}

//===--- Conversations -----------------------------------------------------===//

/// Returns the ids that sampling with |seed| gives after the conversation |rendered|: at most |most|, and no more than
/// the context of 16 tokens has room for; the last one needs no room.
static Ids replyTo(const std::string &rendered, uint64_t seed, int64_t most) {
  attune_generation_options options = defaults();
  Ids ids = encode(rendered);
  options.max_new_tokens = std::min<int64_t>(most, 16 - static_cast<int64_t>(ids.size()) + 1);
  options.do_sample = 1, options.seed = seed;
  return generateIds(options, ids);
}

/// Returns the options of a conversation that borrows |generation|. Removes the end ids of |generation|: the chat
/// template says how a reply ends.
static attune_chat_session_options chatDefaults(attune_generation_options &generation) {
  generation.num_eos_token_ids = 0;
  attune_chat_session_options options;
  attune_chat_session_options_init(&options);
  options.generation = &generation;
  return options;
}

/// Compares a conversation that outgrows its context, so that old turns leave, with generations from its whole text.
static void testChat() {
  attune_generation_options options = defaults();
  options.max_new_tokens = 4, options.do_sample = 1, options.seed = 3;
  attune_chat_session_options chatOptions = chatDefaults(options);
  chatOptions.system = "ba", chatOptions.system_bytes = 2;
  std::string streamed;
  chatOptions.user = &streamed;
  chatOptions.on_text = [](void *user, int64_t, const char *piece, size_t bytes) -> int {
    static_cast<std::string *>(user)->append(piece, bytes);
    return ATTUNE_TOKEN_GO_ON;
  };
  attune_chat_session *chat;
  CHECK_OK(attune_chat_session_create(model, text, &chatOptions, &chat));
  CHECK(attune_chat_session_context(chat) == 16); // the limit of `length` in prefill
  std::vector<std::pair<std::string, std::string>> turns;
  const char *messages[] = {"a", "cc", "f", "dd", "é", "ae", "b", "hh"};
  int64_t left = 0, reused = 0;
  int reset = 0, ends = 0;
  uint64_t number = 0;
  for (int round = 0; round < 4; ++round)
    for (const char *message : messages) {
      streamed.clear();
      attune_chat_reply reply;
      CHECK_OK(attune_chat_session_send(chat, message, strlen(message), &reply));
      auto render = [&] {
        std::string whole = "ba";
        for (auto &[user, assistant] : turns)
          whole += "<user>" + user + "<reply>" + assistant + "<end>";
        return whole + "<user>" + message + "<reply>";
      };
      int64_t leaving = 0;
      while (encode(render()).size() + 4 - 1 > 16)
        turns.erase(turns.begin()), ++leaving;
      Ids ids = replyTo(render(), 3 + number++, 4);
      CHECK(reply.left_turns == leaving && reply.prompt_tokens == static_cast<int64_t>(encode(render()).size()));
      CHECK(std::string(reply.text, reply.bytes) == decode(ids) && streamed == decode(ids) && reply.text[reply.bytes] == '\0');
      CHECK(reply.reply_tokens == static_cast<int64_t>(ids.size()));
      CHECK(reply.finish == (ids.back() == 2 ? ATTUNE_FINISH_END : ATTUNE_FINISH_LENGTH));
      // Unless a turn has left, the tokens of the conversation before are reused.
      CHECK(turns.empty() || leaving > 0 || reply.reused_tokens > 0);
      reused += reply.reused_tokens;
      ends += ids.back() == 2;
      left += leaving;
      if (reply.bytes)
        turns.emplace_back(message, std::string(reply.text, reply.bytes));
      if (number == 13)
        attune_chat_session_reset(chat), turns.clear(), ++reset;
    }
  CHECK(left > 3 && reused > 20 && reset == 1 && ends > 0);
  // Messages that fail.
  attune_chat_reply reply;
  std::string tooLong(30, 'a');
  CHECK_FAILS(attune_chat_session_send(chat, tooLong.data(), tooLong.size(), &reply), ATTUNE_LIMIT_EXCEEDED,
              "the message makes 34 tokens with the system message, the context has 16");
  CHECK_FAILS(attune_chat_session_send(chat, "a\xFF", 2, &reply), ATTUNE_INVALID_ARGUMENT, "expected UTF-8, got byte 0xFF at offset 1");
  CHECK_FAILS(attune_chat_session_send(chat, nullptr, 2, &reply), ATTUNE_INVALID_ARGUMENT, "message is null");
  attune_chat_session_destroy(chat);
}

/// A conversation serves one call at a time: a message that its callback sends is refused, and the reply continues.
static void testChatBusy() {
  attune_generation_options options = defaults();
  attune_chat_session_options chatOptions = chatDefaults(options);
  attune_chat_session *chat = nullptr;
  chatOptions.user = &chat;
  chatOptions.on_text = [](void *user, int64_t, const char *, size_t) -> int {
    attune_chat_reply inner;
    CHECK_FAILS(attune_chat_session_send(*static_cast<attune_chat_session **>(user), "a", 1, &inner), ATTUNE_BUSY,
                "the conversation is running another call");
    return ATTUNE_TOKEN_GO_ON;
  };
  CHECK_OK(attune_chat_session_create(model, text, &chatOptions, &chat));
  attune_chat_reply reply;
  int64_t before = 0;
  do { // until a reply has text: a reply of the end id alone calls no on_text
    CHECK_OK(attune_chat_session_send(chat, &"abcdef"[before++ % 6], 1, &reply));
  } while (reply.bytes == 0 && before < 20);
  CHECK(reply.bytes > 0);
  CHECK_OK(attune_chat_session_send(chat, "a", 1, &reply));
  attune_chat_session_destroy(chat);
}

/// Checks that a reply that the callback ends early stays in the conversation as it is, and that a conversation fails
/// for an encoder-decoder, for a context out of range and for an unknown template.
static void testChatCallback() {
  attune_generation_options options = defaults();
  attune_chat_session_options chatOptions = chatDefaults(options);
  chatOptions.context = 12;
  int pieces = 0;
  chatOptions.user = &pieces;
  chatOptions.on_text = [](void *user, int64_t, const char *, size_t) -> int {
    return ++*static_cast<int *>(user) == 1 ? ATTUNE_TOKEN_END_ALL : ATTUNE_TOKEN_GO_ON;
  };
  attune_chat_session *chat;
  CHECK_OK(attune_chat_session_create(model, text, &chatOptions, &chat));
  attune_chat_reply reply;
  int64_t before = 0;
  do { // until a reply has text, not the end id alone
    pieces = 0;
    CHECK_OK(attune_chat_session_send(chat, &"abcdef"[before++ % 6], 1, &reply));
  } while (reply.bytes == 0 && before < 20);
  CHECK(reply.finish == ATTUNE_FINISH_CALLBACK && pieces == 1 && reply.reply_tokens == 1);
  std::string first(reply.text, reply.bytes);
  CHECK_OK(attune_chat_session_send(chat, "a", 1, &reply));
  CHECK(reply.prompt_tokens == static_cast<int64_t>(encode("<user>a<reply>" + first + "<end><user>a<reply>").size()));
  attune_chat_session_destroy(chat);
  chatOptions.context = 17;
  CHECK_FAILS(attune_chat_session_create(model, text, &chatOptions, &chat), ATTUNE_INVALID_ARGUMENT, "context is 17, expected 1 to 16");
  chatOptions.context = 0;
  CHECK_FAILS(attune_chat_session_create(translator, text, &chatOptions, &chat), ATTUNE_INVALID_ARGUMENT, "cannot chat");
  chatOptions.template_name = "none";
  CHECK_FAILS(attune_chat_session_create(model, text, &chatOptions, &chat), ATTUNE_NOT_FOUND, "no chat template 'none'");
  CHECK(!chat);
  attune_chat_session_destroy(nullptr);
  attune_chat_session_reset(nullptr);
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  for (int number : {4, 77, -1})
    CHECK(std::string(attune_finish_name(static_cast<attune_finish>(number))) == "unknown" || number < 4);
  testStops();
  attune_model_desc decoder = toy::makeDecoder(nullptr), encoderDecoder = toy::makeEncoderDecoder(nullptr);
  attune_model_options options;
  attune_model_options_init(&options);
  CHECK_OK(attune_text_open(argv[1], &text));
  std::string weights = std::string(argv[1]) + ".weights";
  fake_write_weights(weights.c_str(), nullptr);
  options.weights_path = weights.c_str();
  CHECK_OK(attune_model_open(&decoder, &options, &model));
  CHECK_OK(attune_model_open(&encoderDecoder, &options, &translator));
  testTexts();
  testBeamsAndSequences();
  testCallbacksAndErrors();
  testChat();
  testChatCallback();
  testChatBusy();
  attune_model_close(model);
  attune_model_close(translator);
  attune_text_close(text);
  puts("text generation: ok");
}
