//===- ChatSession.cpp - A conversation with a model ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For each message the template of the model renders the whole conversation anew, and the tokenizer encodes it. The
// model computes only the tokens after those that the cache slot of the session holds already (reuse_cache of
// attune_generation_options): usually the end of the last reply and the new message. If the template changes earlier
// messages, as one that removes reasoning, the model computes more tokens; the reply is the same.
//
//   turns    [system]  [user 1, reply 1]  [user 2, reply 2]  user 3      rendered and encoded: 900 tokens
//   context  1024      a reply of 125 tokens has room, 256 (a quarter of the context) are wanted: turn 1 leaves
//
// The object, its ids, the system message, the turns and their texts are one block of address space.
//===----------------------------------------------------------------------===//

#include "EndOfTurn.h"
#include "GenerationEnds.h"
#include "RowText.h"
#include "runtime/src/Error.h"
#include "runtime/src/generation/Arena.h"
#include "runtime/text/CallLock.h"
#include "runtime/text/chat/Machine.h"
#include "runtime/text/chat/Unicode.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <sys/mman.h>

using namespace attune;
using namespace attune::text;

using Long = long long; // the type of %lld

void attune_chat_session_options_init(attune_chat_session_options *options) {
  if (!options)
    return;
  memset(options, 0, sizeof(*options));
  options->struct_bytes = sizeof(*options);
}

namespace {

constexpr size_t kTextBytes = size_t(64) << 20; ///< room for the texts of all turns of a conversation
constexpr int64_t kMostTurns = int64_t(1) << 20;
constexpr int64_t kDefaultContext = 8192;

/// A message of the user and the reply to it: offsets in attune_chat_session::texts and lengths in bytes, without the
/// NUL after each text.
struct Turn {
  size_t message, messageBytes, reply, replyBytes;
};

} // namespace

struct attune_chat_session {
  ~attune_chat_session();
  attune_status open(int64_t context);
  attune_status send(const char *message, size_t bytes, attune_chat_reply &reply);
  void reset();

  attune_model *model;
  const attune_text *text;
  attune_chat_session_options options;
  attune_chat_date date;
  attune_generation_options generation;
  size_t blockBytes;
  int64_t context = 0;
  int64_t *ids = nullptr; // [context]
  Turn *turns = nullptr;  // [kMostTurns]
  int64_t numTurns = 0;
  char *system = nullptr, *texts = nullptr;
  size_t textBytes = 0; // used bytes of |texts|
  uint32_t running = 0; // the flag of a CallLock
  uint64_t sent = 0;

private:
  attune_status openSession();
  attune_status openText();
  attune_status openTemplate();
  attune_status addText(const char *data, size_t bytes, size_t &place);
  attune_status addMessage(attune_chat_value *messages, const char *role, const char *data, size_t bytes);
  attune_status render(int64_t firstTurn, const Turn &turn, attune_chat_rendered &rendered);
  attune_status encode(const char *data, size_t bytes, int64_t &count);
  attune_status fit(const Turn &turn, int64_t &firstTurn, int64_t &count);
  attune_status generateReply(int64_t count, Turn &turn, attune_chat_reply &reply);
  int onToken(int64_t token);
  int onPiece(const char *piece, size_t bytes);
  void forgetTurns(int64_t count);

  attune_session *session = nullptr;
  attune_tokenizer *tokenizer = nullptr;
  attune_chat *chat = nullptr;
  ScratchBuffer stopMemory;
  StopSet stops;
  GenerationEnds ends;
  RowSettings settings{};
  RowText rowText;
  attune_status status = ATTUNE_OK; // of the reply that is being generated
  bool cancelled = false;
};

attune_chat_session::~attune_chat_session() {
  rowText.close();
  attune_chat_close(chat);
  attune_tokenizer_destroy(tokenizer);
  attune_session_destroy(session);
}

//===--- Opening -----------------------------------------------------------===//

/// Returns the largest value of dimension |name| of |entry|; INT32_MAX if |entry| has no such dimension or sets no
/// limit.
static int64_t limitOf(const attune_entry_desc &entry, const char *name) {
  for (uint32_t d = 0; d < entry.num_dims; ++d)
    if (strcmp(entry.dims[d].name, name) == 0 && entry.dims[d].max > 0)
      return entry.dims[d].max;
  return INT32_MAX;
}

/// Returns the most tokens of a conversation. The model must be able to continue them (`past` of decode) and to read
/// them in one call (`length` of prefill), because it reads the whole conversation anew after a turn has left.
static int64_t positionsOf(const attune_model *model) {
  return std::min(limitOf(*attune_model_entry(model, "decode"), "past"), limitOf(*attune_model_entry(model, "prefill"), "length"));
}

attune_status attune_chat_session::openSession() {
  const attune_dim_limit limits[] = {{"batch", std::max<int64_t>(generation.num_beams, 1)}, {"length", context}, {"past", context}};
  attune_session_options sessionOptions;
  attune_session_options_init(&sessionOptions);
  sessionOptions.limits = limits;
  sessionOptions.num_limits = sizeof(limits) / sizeof(*limits);
  sessionOptions.num_threads = options.num_threads;
  return attune_session_create(model, &sessionOptions, &session);
}

/// Creates the tokenizer, finds the token that ends a turn, and opens the end ids, the stop strings and the RowText of
/// replies. Uses |chat|, so openTemplate comes first.
attune_status attune_chat_session::openText() {
  if (generation.num_beams > 1 && generation.num_stop_strings)
    return fail(ATTUNE_INVALID_ARGUMENT, "stop_strings with num_beams = %lld are not supported; expected num_beams = 1",
                Long(generation.num_beams));
  ATTUNE_TRY(attune_tokenizer_create(text, nullptr, &tokenizer));
  int64_t endOfTurn = findEndOfTurn(text, tokenizer, chat, options.date);
  ATTUNE_TRY(ends.open(text, generation, &endOfTurn, endOfTurn >= 0));
  size_t tableBytes = StopSet::memoryBytes(generation.stop_strings, generation.num_stop_strings);
  tableBytes = (tableBytes + sizeof(size_t) - 1) / sizeof(size_t) * sizeof(size_t);
  ATTUNE_TRY(stopMemory.allocate(tableBytes + generation.num_stop_strings * sizeof(size_t)));
  stops.open(generation.stop_strings, generation.num_stop_strings, stopMemory.get());
  settings = {text, /*keepSpecial=*/false, &stops, ends.ids(), ends.size(), ends.numPlain()};
  generation.eos_token_ids = ends.ids(), generation.num_eos_token_ids = ends.size();
  generation.num_stop_strings = 0;
  generation.num_return_sequences = 1;
  generation.reuse_cache = 1;
  return rowText.open(settings, reinterpret_cast<size_t *>(static_cast<char *>(stopMemory.get()) + tableBytes));
}

attune_status attune_chat_session::openTemplate() {
  size_t bytes = 0;
  const void *program = attune_text_chat_program(text, &bytes);
  if (!program)
    return fail(ATTUNE_NOT_FOUND, "the model has no chat template; attune_generate_texts continues plain text");
  attune_chat_options chatOptions;
  attune_chat_options_init(&chatOptions);
  chatOptions.template_name = options.template_name;
  return attune_chat_open(program, bytes, &chatOptions, &chat);
}

attune_status attune_chat_session::open(int64_t tokens) {
  context = tokens;
  ATTUNE_TRY(openTemplate());
  ATTUNE_TRY(openText());
  return openSession();
}

/// Takes the memory of the object and then of its arrays from |arena|, and sets the pointers to the arrays in |chat|.
/// If |chat| is null, |arena| has no block and only measures.
static void placeArrays(attune_chat_session *chat, int64_t context, size_t systemBytes, Arena &arena) {
  arena.take<attune_chat_session>(1);
  int64_t *ids = arena.take<int64_t>(context);
  Turn *turns = arena.take<Turn>(kMostTurns);
  char *system = arena.take<char>(static_cast<int64_t>(systemBytes) + 1);
  char *texts = arena.take<char>(static_cast<int64_t>(kTextBytes));
  if (chat)
    chat->ids = ids, chat->turns = turns, chat->system = system, chat->texts = texts;
}

/// Checks the arguments and sets |context| to the most tokens of a conversation. Fails with INVALID_ARGUMENT.
static attune_status checkArguments(attune_model *model, const attune_text *text, const attune_chat_session_options &options,
                                    int64_t &context) {
  if (!model || !text)
    return fail(ATTUNE_INVALID_ARGUMENT, model ? "text is null" : "model is null");
  if (!options.system && options.system_bytes)
    return fail(ATTUNE_INVALID_ARGUMENT, "system is null, %zu bytes expected", options.system_bytes);
  if (options.system && !chat::isUtf8({options.system, options.system_bytes}))
    return fail(ATTUNE_INVALID_ARGUMENT, "system is not UTF-8");
  if (options.date && !chat::isDate(*options.date))
    return fail(ATTUNE_INVALID_ARGUMENT, "there is no date %d-%d-%d %d:%d:%d", options.date->year, options.date->month, options.date->day,
                options.date->hour, options.date->minute, options.date->second);
  const char *name = attune_model_descriptor(model)->name;
  if (attune_model_entry(model, "encode") || !attune_model_entry(model, "prefill") || !attune_model_entry(model, "decode"))
    return fail(ATTUNE_INVALID_ARGUMENT, "model '%s' (%s) cannot chat: a decoder that continues sequences is expected", name,
                attune_model_descriptor(model)->architecture);
  int64_t positions = positionsOf(model);
  context = std::min(positions, kDefaultContext);
  if (options.context == 0)
    return ATTUNE_OK;
  if (options.context < 1 || options.context > positions)
    return fail(ATTUNE_INVALID_ARGUMENT, "context is %lld, expected 1 to %lld, the positions of model '%s'", Long(options.context),
                Long(positions), name);
  context = options.context;
  return ATTUNE_OK;
}

attune_status attune_chat_session_create(attune_model *model, const attune_text *text, const attune_chat_session_options *options,
                                         attune_chat_session **out_chat) {
  if (!out_chat)
    return fail(ATTUNE_INVALID_ARGUMENT, "out_chat is null");
  *out_chat = nullptr;
  attune_chat_session_options own;
  attune_chat_session_options_init(&own);
  if (options && options->struct_bytes != sizeof(own))
    return fail(ATTUNE_INVALID_ARGUMENT, "options: expected struct_bytes %zu, got %zu: call attune_chat_session_options_init", sizeof(own),
                options->struct_bytes);
  if (options)
    own = *options;
  int64_t context;
  ATTUNE_TRY(checkArguments(model, text, own, context));
  attune_generation_options generation;
  attune_generation_options_init(model, &generation);
  if (own.generation && own.generation->struct_bytes != sizeof(generation))
    return fail(ATTUNE_INVALID_ARGUMENT, "options.generation: expected struct_bytes %zu, got %zu: call attune_generation_options_init",
                sizeof(generation), own.generation->struct_bytes);
  Arena measure;
  placeArrays(nullptr, context, own.system_bytes, measure);
  size_t bytes = measure.getBytes();
  void *block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block == MAP_FAILED)
    return fail(ATTUNE_OUT_OF_MEMORY, "cannot reserve %zu bytes for a conversation: %s", bytes, strerror(errno));
  auto *chat = new (block) attune_chat_session();
  chat->model = model, chat->text = text, chat->options = own, chat->blockBytes = bytes;
  chat->generation = own.generation ? *own.generation : generation;
  Arena arena(block);
  placeArrays(chat, context, own.system_bytes, arena);
  if (own.system)
    memcpy(chat->system, own.system, own.system_bytes), chat->options.system = chat->system;
  if (own.date)
    chat->date = *own.date, chat->options.date = &chat->date;
  if (attune_status status = chat->open(context); status != ATTUNE_OK) {
    attune_chat_session_destroy(chat);
    return status;
  }
  *out_chat = chat;
  return ATTUNE_OK;
}

void attune_chat_session_destroy(attune_chat_session *chat) {
  if (!chat)
    return;
  size_t bytes = chat->blockBytes;
  chat->~attune_chat_session();
  munmap(chat, bytes);
}

//===--- Messages ----------------------------------------------------------===//

void attune_chat_session::reset() {
  numTurns = 0;
  textBytes = 0;
}

int64_t attune_chat_session_context(const attune_chat_session *chat) { return chat ? chat->context : 0; }

void attune_chat_session_reset(attune_chat_session *chat) {
  if (chat)
    chat->reset();
}

/// Appends |bytes| bytes and a NUL to |texts| and sets |place| to their offset there. Fails with LIMIT_EXCEEDED if they
/// do not fit.
attune_status attune_chat_session::addText(const char *data, size_t bytes, size_t &place) {
  // A reply follows, which has a NUL even if it has no piece.
  const size_t room = kTextBytes - textBytes;
  if (room < 2 || bytes > room - 2)
    return fail(ATTUNE_LIMIT_EXCEEDED, "the conversation has more than %zu bytes of text", kTextBytes);
  place = textBytes;
  if (bytes)
    memcpy(texts + textBytes, data, bytes);
  textBytes += bytes + 1;
  texts[textBytes - 1] = '\0';
  return ATTUNE_OK;
}

/// Appends a message to |messages|, which is null if the chat had no memory for the list. Fails with INVALID_ARGUMENT
/// if |data| is not UTF-8, and with OUT_OF_MEMORY if the chat has no memory left.
attune_status attune_chat_session::addMessage(attune_chat_value *messages, const char *role, const char *data, size_t bytes) {
  attune_chat_value *message = messages ? attune_chat_dict(chat) : nullptr;
  attune_chat_value *name = message ? attune_chat_text(chat, role, strlen(role)) : nullptr;
  attune_chat_value *content = name ? attune_chat_text(chat, data, bytes) : nullptr;
  bool isMade = content && attune_chat_set(chat, message, "role", name) && attune_chat_set(chat, message, "content", content) &&
                attune_chat_append(chat, messages, message);
  attune_status status = chat::isUtf8({data, bytes}) ? ATTUNE_OUT_OF_MEMORY : ATTUNE_INVALID_ARGUMENT;
  return isMade ? ATTUNE_OK : fail(status, "a message of the role '%s': %s", role, attune_last_error());
}

/// Renders the system message, the turns from |firstTurn| on, and the message of |turn|, which has no reply yet.
attune_status attune_chat_session::render(int64_t firstTurn, const Turn &turn, attune_chat_rendered &rendered) {
  attune_chat_clear(chat);
  if (options.date)
    ATTUNE_TRY(attune_chat_set_date(chat, options.date));
  if (options.variables)
    options.variables(options.user, chat);
  attune_chat_value *messages = attune_chat_list(chat);
  if (options.system)
    ATTUNE_TRY(addMessage(messages, "system", options.system, options.system_bytes));
  for (int64_t i = firstTurn; i < numTurns; ++i) {
    ATTUNE_TRY(addMessage(messages, "user", texts + turns[i].message, turns[i].messageBytes));
    ATTUNE_TRY(addMessage(messages, "assistant", texts + turns[i].reply, turns[i].replyBytes));
  }
  ATTUNE_TRY(addMessage(messages, "user", texts + turn.message, turn.messageBytes));
  attune_chat_value *variables = attune_chat_variables(chat), *isTrue = attune_chat_bool(chat, 1);
  if (!variables || !isTrue || !attune_chat_set(chat, variables, "messages", messages) ||
      !attune_chat_set(chat, variables, "add_generation_prompt", isTrue))
    return fail(ATTUNE_OUT_OF_MEMORY, "the conversation does not fit into the memory of its template: %s", attune_last_error());
  return attune_chat_render(chat, &rendered);
}

/// Encodes a text and sets |count| to the number of its tokens. Writes at most the first |context| of them to |ids|.
attune_status attune_chat_session::encode(const char *data, size_t bytes, int64_t &count) {
  attune_encode_options encodeOptions;
  attune_encode_options_init(text, &encodeOptions);
  encodeOptions.add_special_tokens = 0; // the template has written them
  attune_text_input input{data, bytes, nullptr, 0};
  const attune_encoding *encodings;
  size_t number;
  ATTUNE_TRY(attune_tokenizer_encode(tokenizer, &input, 1, &encodeOptions, &encodings, &number));
  count = encodings[0].length;
  std::copy_n(encodings[0].ids, std::min(count, context), ids);
  return ATTUNE_OK;
}

/// Writes the ids of the conversation that ends with the message of |turn| to |ids| and sets |count| to their number.
/// Sets |firstTurn| to the first turn that stays: the turns before it leave the reply too little room. Fails with
/// LIMIT_EXCEEDED if the system message and |turn| alone have more than |context| tokens.
attune_status attune_chat_session::fit(const Turn &turn, int64_t &firstTurn, int64_t &count) {
  int64_t wanted = std::max<int64_t>(context / 4, 1);
  if (generation.max_new_tokens > 0)
    wanted = std::min(wanted, generation.max_new_tokens);
  for (firstTurn = 0;; ++firstTurn) {
    attune_chat_rendered rendered;
    attune_status made = render(firstTurn, turn, rendered);
    if (made == ATTUNE_OUT_OF_MEMORY && firstTurn < numTurns)
      continue;
    ATTUNE_TRY(made);
    attune_status encoded = encode(rendered.text, rendered.bytes, count);
    // The model does not read the last token of a reply, so that token needs no position.
    if (encoded == ATTUNE_OK && count + wanted - 1 <= context)
      return ATTUNE_OK;
    if (firstTurn < numTurns && (encoded == ATTUNE_OK || encoded == ATTUNE_LIMIT_EXCEEDED))
      continue;
    ATTUNE_TRY(encoded);
    if (count <= context)
      return ATTUNE_OK;
    return fail(ATTUNE_LIMIT_EXCEEDED, "the message makes %lld tokens%s, the context has %lld", Long(count),
                options.system ? " with the system message" : "", Long(context));
  }
}

int attune_chat_session::onPiece(const char *piece, size_t bytes) {
  if (bytes >= kTextBytes - textBytes) {
    status = fail(ATTUNE_LIMIT_EXCEEDED, "the conversation has more than %zu bytes of text", kTextBytes);
    return ATTUNE_TOKEN_END_ALL;
  }
  memcpy(texts + textBytes, piece, bytes);
  textBytes += bytes;
  return options.on_text ? options.on_text(options.user, 0, piece, bytes) : ATTUNE_TOKEN_GO_ON;
}

/// Returns the receiver that passes each piece of a reply to |take|, with |chat| as its state.
static PieceSink sinkOf(attune_chat_session *chat, int (*take)(void *, const char *, size_t)) { return {take, chat}; }

int attune_chat_session::onToken(int64_t token) {
  auto take = [](void *self, const char *piece, size_t bytes) { return static_cast<attune_chat_session *>(self)->onPiece(piece, bytes); };
  int answer = ATTUNE_TOKEN_GO_ON;
  attune_status pushed = rowText.push(token, sinkOf(this, take), answer);
  if (pushed != ATTUNE_OK || status != ATTUNE_OK) {
    status = pushed != ATTUNE_OK ? pushed : status;
    return ATTUNE_TOKEN_END_ALL;
  }
  cancelled = cancelled || (answer != ATTUNE_TOKEN_GO_ON && answer != ATTUNE_TOKEN_END_ROW);
  return answer;
}

/// Generates the reply to the first |count| of |ids| and appends its text to |texts|. Sets |turn|.reply,
/// |turn|.replyBytes and the fields of |reply| except text, bytes and left_turns, which send() sets.
attune_status attune_chat_session::generateReply(int64_t count, Turn &turn, attune_chat_reply &reply) {
  const attune_entry_desc *prefill = attune_model_entry(model, "prefill");
  attune_generation_options own = generation;
  int64_t room = context - count + 1;
  own.max_new_tokens = own.max_new_tokens > 0 ? std::min(own.max_new_tokens, room) : room;
  own.seed += sent;
  auto *given = generation.on_token;
  own.user = this;
  own.on_token = nullptr;
  if (generation.num_beams <= 1 || given)
    own.on_token = [](void *self, int64_t row, int64_t token, int64_t length) {
      auto *chat = static_cast<attune_chat_session *>(self);
      const attune_generation_options &outer = chat->generation;
      int first = outer.on_token ? outer.on_token(outer.user, row, token, length) : ATTUNE_TOKEN_GO_ON;
      int answer = token >= 0 ? chat->onToken(token) : ATTUNE_TOKEN_GO_ON;
      chat->cancelled = chat->cancelled || first != ATTUNE_TOKEN_GO_ON;
      return first != ATTUNE_TOKEN_GO_ON && answer == ATTUNE_TOKEN_GO_ON ? first : answer;
    };
  status = ATTUNE_OK;
  cancelled = false;
  turn.reply = textBytes;
  ATTUNE_TRY(rowText.begin(ids, 0));
  const int64_t shape[] = {1, count};
  attune_tensor input{prefill->inputs[0].name, ATTUNE_I64, 2, shape, ids, static_cast<size_t>(count) * sizeof(int64_t)};
  attune_generation *result;
  ATTUNE_TRY(attune_generate(session, &own, &input, 1, &result));
  for (int64_t i = count; generation.num_beams > 1 && i < result->length && !rowText.hasEnded() && status == ATTUNE_OK; ++i)
    onToken(result->sequences[i]);
  reply.reused_tokens = result->reused_tokens;
  attune_generation_free(result);
  auto take = [](void *self, const char *piece, size_t bytes) { return static_cast<attune_chat_session *>(self)->onPiece(piece, bytes); };
  if (status == ATTUNE_OK)
    ATTUNE_TRY(rowText.finish(cancelled ? ATTUNE_FINISH_CALLBACK : ATTUNE_FINISH_LENGTH, sinkOf(this, take)));
  ATTUNE_TRY(status);
  turn.replyBytes = textBytes - turn.reply;
  texts[textBytes++] = '\0'; // onPiece leaves room for it
  reply.finish = rowText.finishReason();
  reply.reply_tokens = rowText.numIds();
  reply.prompt_tokens = count;
  return ATTUNE_OK;
}

/// Forgets the |count| oldest turns, fewer than numTurns, and moves the texts of the other turns to the beginning of
/// |texts|.
void attune_chat_session::forgetTurns(int64_t count) {
  if (count == 0)
    return;
  size_t begin = turns[count].message;
  memmove(texts, texts + begin, textBytes - begin);
  textBytes -= begin;
  for (int64_t i = count; i < numTurns; ++i) {
    turns[i - count] = turns[i];
    turns[i - count].message -= begin, turns[i - count].reply -= begin;
  }
  numTurns -= count;
}

attune_status attune_chat_session::send(const char *message, size_t bytes, attune_chat_reply &reply) {
  if (numTurns + 1 >= kMostTurns)
    return fail(ATTUNE_LIMIT_EXCEEDED, "the conversation has %lld turns, expected fewer than %lld", Long(numTurns), Long(kMostTurns));
  int64_t firstTurn = 0, count = 0;
  ATTUNE_TRY(encode(message, bytes, count)); // an error names a position in the message, not in the conversation
  size_t before = textBytes;
  Turn turn{0, bytes, 0, 0};
  attune_status result = addText(message, bytes, turn.message);
  if (result == ATTUNE_OK)
    result = fit(turn, firstTurn, count);
  if (result == ATTUNE_OK)
    result = generateReply(count, turn, reply);
  if (result != ATTUNE_OK) {
    textBytes = before;
    return result;
  }
  ++sent;
  turns[numTurns++] = turn;
  forgetTurns(firstTurn);
  const Turn &last = turns[numTurns - 1];
  reply.left_turns = firstTurn;
  reply.text = texts + last.reply;
  reply.bytes = last.replyBytes;
  if (last.replyBytes == 0) {
    textBytes = last.message;
    --numTurns;
    reply.text = "";
  }
  return ATTUNE_OK;
}

attune_status attune_chat_session_send(attune_chat_session *chat, const char *message, size_t bytes, attune_chat_reply *out_reply) {
  if (!chat || !out_reply || (!message && bytes))
    return fail(ATTUNE_INVALID_ARGUMENT, !chat ? "chat is null" : !out_reply ? "out_reply is null" : "message is null");
  *out_reply = attune_chat_reply{};
  CallLock lock;
  ATTUNE_TRY(lock.take(chat->running, "conversation"));
  attune_chat_reply reply{};
  ATTUNE_TRY(chat->send(message, bytes, reply));
  *out_reply = reply;
  return ATTUNE_OK;
}
