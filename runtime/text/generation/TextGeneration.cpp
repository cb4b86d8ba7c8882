//===- TextGeneration.cpp - attune_generate_texts -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One batch from texts to texts: inputs become ids, padded to one length; a session of the smallest sufficient size
// generates; the text of each row grows as its ids arrive.
//===----------------------------------------------------------------------===//

#include "GenerationEnds.h"
#include "Languages.h"
#include "RowText.h"
#include "runtime/src/Error.h"
#include "runtime/src/generation/Arena.h"
#include "runtime/src/generation/ScratchBuffer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

using namespace attune;
using namespace attune::text;

const char *attune_finish_name(attune_finish finish) {
  static const char *const names[] = {"end", "stop", "length", "callback"};
  // A caller may pass a number that is no enumerator; reading that as an enumeration is undefined behavior.
  uint32_t number;
  static_assert(sizeof(number) == sizeof(finish), "attune_finish");
  memcpy(&number, &finish, sizeof(number));
  return number <= ATTUNE_FINISH_CALLBACK ? names[number] : "unknown";
}

void attune_text_generation_options_init(attune_text_generation_options *options) {
  if (!options)
    return;
  memset(options, 0, sizeof(*options));
  options->struct_bytes = sizeof(*options);
  options->add_special_tokens = 1;
}

namespace {

/// The text of a row of the result, in memory that grows.
struct GrowingText {
  char *data = nullptr;
  size_t size = 0, capacity = 0;
  bool failed = false;

  void add(const char *piece, size_t bytes) {
    if (size + bytes + 1 > capacity) {
      size_t wanted = std::max<size_t>(256, (size + bytes + 1) * 2);
      auto *grown = static_cast<char *>(realloc(data, wanted));
      failed = failed || !grown;
      if (!grown)
        return;
      data = grown, capacity = wanted;
    }
    memcpy(data + size, piece, bytes);
    data[size += bytes] = '\0';
  }
};

/// The beginning of the memory of a result. The public structure comes first, so that its address is that of the
/// memory.
struct StoredTexts {
  attune_text_generation shown;
  attune_generation *generation; ///< owns the ids of the texts
  GrowingText *texts;            ///< [shown.num_texts]
};

/// One call of attune_generate_texts.
class TextCall {
public:
  TextCall(attune_model *model, const attune_text *text, const attune_text_generation_options &options)
      : model(model), text(text), options(options) {}
  TextCall(const TextCall &) = delete;
  TextCall &operator=(const TextCall &) = delete;
  ~TextCall();

  attune_status run(const attune_text_input *inputs, size_t numInputs, attune_text_generation **out);

private:
  attune_status chooseSettings();
  attune_status encode(const attune_text_input *inputs, size_t numInputs);
  void placeRow(int64_t row);
  attune_status fillLength();
  attune_status openTensors();
  attune_status openRows();
  attune_status generate();
  void collect();
  int onToken(int64_t row, int64_t token, int64_t length);
  const int64_t *promptOf(int64_t row, int64_t &count) const;

  attune_model *model;
  const attune_text *text;
  attune_text_generation_options options;
  attune_generation_options generation;
  Languages languages;
  bool hasEncoder = false;
  attune_tokenizer *tokenizer = nullptr;
  const attune_encoding *encodings = nullptr;
  int64_t rows = 0, length = 0; // of the inputs
  ScratchBuffer memory, rowMemory, stopMemory;
  int64_t *ids = nullptr, *mask = nullptr; // [rows, length]
  int64_t shape[2];
  attune_tensor tensors[2];
  size_t numTensors = 0;
  attune_session *session = nullptr;
  GenerationEnds ends;
  StopSet stops;
  RowSettings settings{};
  RowText *rowTexts = nullptr;
  int64_t results = 0;
  StoredTexts *stored = nullptr;
  attune_status status = ATTUNE_OK;
  bool cancelled = false;
};

/// The receiver of the text of one row: appends it to |text| and calls on_text.
struct RowSink {
  const attune_text_generation_options *options;
  int64_t row;
  GrowingText *text;

  static int take(void *state, const char *piece, size_t bytes) {
    auto *self = static_cast<RowSink *>(state);
    self->text->add(piece, bytes);
    return self->options->on_text ? self->options->on_text(self->options->user, self->row, piece, bytes) : ATTUNE_TOKEN_GO_ON;
  }
};

} // namespace

static void freeStored(StoredTexts *stored) {
  if (!stored)
    return;
  attune_generation_free(stored->generation);
  for (size_t i = 0; i < stored->shown.num_texts; ++i)
    free(stored->texts[i].data);
  free(stored);
}

TextCall::~TextCall() {
  for (int64_t row = 0; rowTexts && row < results; ++row)
    rowTexts[row].close();
  attune_session_destroy(session);
  attune_tokenizer_destroy(tokenizer);
  freeStored(stored);
}

/// Sets |generation| to the settings of the caller, or of the model if the caller has none, and applies the caller's
/// languages. Sets options.new_tokens to kDefault if neither the caller nor the model sets a length; kUnset is the
/// default of max_length in transformers. Fails with INVALID_ARGUMENT.
attune_status TextCall::chooseSettings() {
  hasEncoder = attune_model_entry(model, "encode") != nullptr;
  attune_generation_options_init(model, &generation);
  if (options.generation && options.generation->struct_bytes != sizeof(generation))
    return fail(ATTUNE_INVALID_ARGUMENT, "options.generation: expected struct_bytes %zu, got %zu: call attune_generation_options_init",
                sizeof(generation), options.generation->struct_bytes);
  constexpr int64_t kUnset = 20, kDefault = 256;
  if (options.generation)
    generation = *options.generation;
  else if (generation.max_new_tokens == 0 && generation.max_length == kUnset && options.new_tokens == 0)
    options.new_tokens = kDefault;
  if (!hasEncoder && (options.source_language || options.target_language))
    return fail(ATTUNE_INVALID_ARGUMENT, "the %s language is '%s', expected none: the model is no encoder-decoder",
                options.source_language ? "source" : "target", options.source_language ? options.source_language : options.target_language);
  if (generation.num_beams > 1 && generation.num_stop_strings)
    return fail(ATTUNE_INVALID_ARGUMENT, "stop_strings with num_beams = %lld are not supported; expected num_beams = 1",
                static_cast<long long>(generation.num_beams));
  return chooseLanguages(text, options.source_language, options.target_language, generation, languages);
}

/// Encodes the inputs and lays them out as one batch: sources of an encoder are padded on the right, prompts of a
/// decoder on the left.
attune_status TextCall::encode(const attune_text_input *inputs, size_t numInputs) {
  attune_tokenizer_options tokenizerOptions;
  attune_tokenizer_options_init(&tokenizerOptions);
  size_t total = 0;
  for (size_t i = 0; i < numInputs; ++i)
    total += inputs[i].bytes + (inputs[i].pair ? inputs[i].pair_bytes : 0);
  tokenizerOptions.max_call_bytes = std::max({tokenizerOptions.max_call_bytes, total, numInputs});
  ATTUNE_TRY(attune_tokenizer_create(text, &tokenizerOptions, &tokenizer));
  attune_encode_options encodeOptions;
  attune_encode_options_init(text, &encodeOptions);
  encodeOptions.add_special_tokens = options.add_special_tokens;
  size_t count;
  ATTUNE_TRY(attune_tokenizer_encode(tokenizer, inputs, numInputs, &encodeOptions, &encodings, &count));
  rows = static_cast<int64_t>(count);
  for (int64_t row = 0; row < rows; ++row) {
    length = std::max(length, encodings[row].length + (languages.prefix >= 0));
    if (encodings[row].length == 0 && (hasEncoder || generation.bos_token_id < 0))
      return fail(ATTUNE_INVALID_ARGUMENT, "input %lld has no token, and the model has no %s to begin with", static_cast<long long>(row),
                  hasEncoder ? "source without one" : "bos_token_id");
  }
  length = std::max<int64_t>(length, 1);
  ATTUNE_TRY(memory.allocate(static_cast<size_t>(rows * length) * 2 * sizeof(int64_t)));
  ids = static_cast<int64_t *>(memory.get());
  mask = ids + rows * length;
  bool replaced = languages.source < 0;
  for (int64_t row = 0; row < rows; ++row) {
    placeRow(row);
    for (int64_t i = 0; i < encodings[row].length && !replaced; ++i)
      replaced = encodings[row].special_tokens_mask[i] && isLanguage(text, encodings[row].ids[i]);
  }
  if (!replaced)
    return fail(ATTUNE_INVALID_ARGUMENT, "the source language is '%s', expected none: the tokenizer adds no language to its texts",
                options.source_language);
  return ATTUNE_OK;
}

/// Writes ids and mask of |row|: the tokens of its input, after languages.prefix if that is set; languages.source, if
/// set, replaces the language token of the input. Without any token, the row is bos_token_id. The other positions are
/// padding, with mask 0.
void TextCall::placeRow(int64_t row) {
  const attune_encoding &encoding = encodings[row];
  attune_encode_options padding;
  attune_encode_options_init(text, &padding);
  int64_t *id = ids + row * length, *shown = mask + row * length;
  int64_t pad = padding.pad_id >= 0 ? padding.pad_id : 0;
  if (generation.pad_token_id >= 0)
    pad = generation.pad_token_id;
  std::fill_n(id, length, pad);
  int64_t tokens = encoding.length + (languages.prefix >= 0);
  if (tokens == 0) {
    id[length - 1] = generation.bos_token_id, shown[length - 1] = 1;
    return;
  }
  int64_t begin = hasEncoder ? 0 : length - tokens;
  std::fill_n(shown + begin, tokens, 1);
  id += begin;
  if (languages.prefix >= 0)
    *id++ = languages.prefix;
  for (int64_t i = 0; i < encoding.length; ++i) {
    bool isSource = languages.source >= 0 && encoding.special_tokens_mask[i] && isLanguage(text, encoding.ids[i]);
    id[i] = isSource ? languages.source : encoding.ids[i];
  }
}

/// Sets max_new_tokens to options.new_tokens, or to fewer if the model has no more positions after the prompt. Does
/// nothing if options.new_tokens is 0. Fails with INVALID_ARGUMENT if it is negative.
attune_status TextCall::fillLength() {
  if (options.new_tokens < 0)
    return fail(ATTUNE_INVALID_ARGUMENT, "new_tokens is %lld, at least 0 expected", static_cast<long long>(options.new_tokens));
  if (options.new_tokens == 0)
    return ATTUNE_OK;
  const attune_entry_desc *decode = attune_model_entry(model, "decode");
  int64_t most = 0, prompt = hasEncoder ? 1 : length;
  for (uint32_t d = 0; decode && d < decode->num_dims; ++d)
    if (strcmp(decode->dims[d].name, "past") == 0)
      most = decode->dims[d].max;
  generation.max_new_tokens = options.new_tokens;
  // The model does not read the last token that is chosen, so that token needs no position.
  if (most > 0 && prompt <= most)
    generation.max_new_tokens = std::min(generation.max_new_tokens, most - prompt + 1);
  return ATTUNE_OK;
}

/// Makes the tensors of the batch: the ids, and the mask if there is padding, with the names that the model gives them.
/// Fails with INVALID_ARGUMENT if the model has no entry for them.
attune_status TextCall::openTensors() {
  const attune_entry_desc *entry = attune_model_entry(model, hasEncoder ? "encode" : "prefill");
  if (!entry || entry->num_inputs == 0)
    return fail(ATTUNE_INVALID_ARGUMENT, "model '%s' cannot generate: it has no decoder that continues sequences",
                attune_model_descriptor(model)->name);
  shape[0] = rows, shape[1] = length;
  size_t bytes = static_cast<size_t>(rows * length) * sizeof(int64_t);
  tensors[numTensors++] = {entry->inputs[0].name, ATTUNE_I64, 2, shape, ids, bytes};
  if (std::find(mask, mask + rows * length, 0) == mask + rows * length)
    return ATTUNE_OK;
  const char *name = "attention_mask";
  for (uint32_t i = 0; i < entry->num_inputs; ++i)
    if (entry->inputs[i].fill == ATTUNE_FILL_TOKENS)
      name = entry->inputs[i].name;
  tensors[numTensors++] = {name, ATTUNE_I64, 2, shape, mask, bytes};
  return ATTUNE_OK;
}

/// Returns the ids of the prompt that the text of result row |row| follows, without padding, and sets |count| to their
/// number; 0 for an encoder-decoder.
const int64_t *TextCall::promptOf(int64_t row, int64_t &count) const {
  int64_t input = row / generation.num_return_sequences;
  const int64_t *begin = ids + input * length, *visible = std::find(mask + input * length, mask + (input + 1) * length, 1);
  int64_t padding = visible - (mask + input * length);
  count = hasEncoder ? 0 : length - padding;
  return begin + padding;
}

/// Opens the RowText of each row of the result and begins it with the prompt of the row. Moves the stop strings from
/// |generation| to the rows, and sets the end ids of |generation| to |ends|.
attune_status TextCall::openRows() {
  results = rows * generation.num_return_sequences;
  ATTUNE_TRY(ends.open(text, generation, nullptr, 0));
  ATTUNE_TRY(stopMemory.allocate(StopSet::memoryBytes(generation.stop_strings, generation.num_stop_strings)));
  stops.open(generation.stop_strings, generation.num_stop_strings, stopMemory.get());
  settings = {text, options.keep_special_tokens != 0, &stops, ends.ids(), ends.size(), ends.numPlain()};
  generation.eos_token_ids = ends.ids(), generation.num_eos_token_ids = ends.size();
  generation.num_stop_strings = 0;
  auto place = [&](Arena &arena) {
    RowText *texts = arena.take<RowText>(results);
    size_t *states = arena.take<size_t>(results * static_cast<int64_t>(stops.size()));
    for (int64_t row = 0; texts && row < results; ++row)
      new (texts + row) RowText;
    rowTexts = texts;
    return states;
  };
  Arena measure;
  place(measure);
  ATTUNE_TRY(rowMemory.allocate(measure.getBytes()));
  Arena arena(rowMemory.get());
  size_t *states = place(arena);
  for (int64_t row = 0; row < results; ++row) {
    ATTUNE_TRY(rowTexts[row].open(settings, states + row * static_cast<int64_t>(stops.size())));
    int64_t count;
    const int64_t *prompt = promptOf(row, count);
    ATTUNE_TRY(rowTexts[row].begin(prompt, count));
  }
  return ATTUNE_OK;
}

int TextCall::onToken(int64_t row, int64_t token, int64_t length) {
  int given = options.generation && options.generation->on_token
                  ? options.generation->on_token(options.generation->user, row, token, length)
                  : ATTUNE_TOKEN_GO_ON;
  int answer = ATTUNE_TOKEN_GO_ON;
  if (generation.num_beams == 1) {
    RowSink sink{&options, row, stored->texts + row};
    attune_status pushed = rowTexts[row].push(token, {RowSink::take, &sink}, answer);
    if (pushed == ATTUNE_OK && given == ATTUNE_TOKEN_END_ROW)
      pushed = rowTexts[row].finish(ATTUNE_FINISH_CALLBACK, {RowSink::take, &sink});
    if (pushed != ATTUNE_OK || stored->texts[row].failed) {
      status = pushed == ATTUNE_OK ? ATTUNE_OUT_OF_MEMORY : pushed;
      return ATTUNE_TOKEN_END_ALL;
    }
  }
  // An answer that attune_token_answer does not list ends the generation, too.
  auto endsAll = [](int one) { return one != ATTUNE_TOKEN_GO_ON && one != ATTUNE_TOKEN_END_ROW; };
  answer = given == ATTUNE_TOKEN_GO_ON || endsAll(answer) ? answer : given;
  cancelled = cancelled || endsAll(answer);
  return answer;
}

/// Generates in a session of the smallest sufficient size.
attune_status TextCall::generate() {
  generation.on_token = [](void *user, int64_t row, int64_t token, int64_t length) {
    return static_cast<TextCall *>(user)->onToken(row, token, length);
  };
  generation.user = this;
  attune_dim_limit limits[ATTUNE_MAX_GENERATION_LIMITS];
  attune_session_options sessionOptions;
  attune_session_options_init(&sessionOptions);
  sessionOptions.limits = limits;
  sessionOptions.num_threads = options.num_threads;
  ATTUNE_TRY(attune_generation_limits(model, &generation, tensors, numTensors, limits, &sessionOptions.num_limits));
  ATTUNE_TRY(attune_session_create(model, &sessionOptions, &session));
  ATTUNE_TRY(attune_generate(session, &generation, tensors, numTensors, &stored->generation));
  if (status == ATTUNE_OUT_OF_MEMORY)
    return fail(ATTUNE_OUT_OF_MEMORY, "cannot get memory for a text");
  return status;
}

/// Writes the rows of the result. With beams, decodes the ids of each row first. Ends the texts that have not ended.
/// Sets |status| to the error of a text that fails, and stops there.
void TextCall::collect() {
  const attune_generation &result = *stored->generation;
  int64_t prompt = hasEncoder ? 1 : length;
  auto *shown = const_cast<attune_generated_text *>(stored->shown.texts);
  for (int64_t row = 0; row < results; ++row) {
    RowText &rowText = rowTexts[row];
    RowSink sink{&options, row, stored->texts + row};
    PieceSink take{RowSink::take, &sink};
    const int64_t *begin = result.sequences + row * result.length + prompt, *end = result.sequences + (row + 1) * result.length;
    int answer = ATTUNE_TOKEN_GO_ON;
    auto goesOn = [&] { return status == ATTUNE_OK && answer == ATTUNE_TOKEN_GO_ON && !rowText.hasEnded(); };
    for (const int64_t *id = begin; generation.num_beams > 1 && id < end && goesOn(); ++id)
      status = rowText.push(*id, take, answer);
    if (status == ATTUNE_OK)
      status = rowText.finish(cancelled || answer != ATTUNE_TOKEN_GO_ON ? ATTUNE_FINISH_CALLBACK : ATTUNE_FINISH_LENGTH, take);
    if (stored->texts[row].failed || status != ATTUNE_OK) {
      status = status == ATTUNE_OK ? fail(ATTUNE_OUT_OF_MEMORY, "cannot get memory for a text") : status;
      return;
    }
    const GrowingText &grown = stored->texts[row];
    shown[row] = {row / generation.num_return_sequences,          grown.data ? grown.data : "", grown.size, begin, rowText.numIds(),
                  result.scores ? double(result.scores[row]) : 0, rowText.finishReason()};
  }
}

attune_status TextCall::run(const attune_text_input *inputs, size_t numInputs, attune_text_generation **out) {
  ATTUNE_TRY(chooseSettings());
  ATTUNE_TRY(encode(inputs, numInputs));
  ATTUNE_TRY(fillLength());
  ATTUNE_TRY(openTensors());
  if (generation.num_return_sequences < 1 || generation.num_return_sequences > INT32_MAX / rows)
    return fail(ATTUNE_INVALID_ARGUMENT, "num_return_sequences is %lld, expected 1 to %d for %lld inputs",
                static_cast<long long>(generation.num_return_sequences), static_cast<int>(INT32_MAX / rows), static_cast<long long>(rows));
  results = rows * generation.num_return_sequences;
  auto place = [&](Arena &arena) {
    StoredTexts *result = arena.take<StoredTexts>(1);
    auto *shown = arena.take<attune_generated_text>(results);
    auto *texts = arena.take<GrowingText>(results);
    for (int64_t row = 0; texts && row < results; ++row)
      new (texts + row) GrowingText;
    if (result)
      *result = {{static_cast<size_t>(results), shown, 0}, nullptr, texts};
    return result;
  };
  Arena measure;
  place(measure);
  ScratchBuffer buffer;
  ATTUNE_TRY(buffer.allocate(measure.getBytes()));
  Arena arena(buffer.get());
  stored = place(arena);
  buffer.release();
  stored->shown.prompt_tokens = std::count(mask, mask + rows * length, 1);
  ATTUNE_TRY(openRows());
  ATTUNE_TRY(generate());
  collect();
  if (status != ATTUNE_OK)
    return status;
  *out = &stored->shown;
  stored = nullptr;
  return ATTUNE_OK;
}

attune_status attune_generate_texts(attune_model *model, const attune_text *text, const attune_text_generation_options *options,
                                    const attune_text_input *inputs, size_t num_inputs, attune_text_generation **out_generation) {
  if (!out_generation)
    return fail(ATTUNE_INVALID_ARGUMENT, "out_generation is null");
  *out_generation = nullptr;
  if (!model || !text || !inputs || num_inputs == 0)
    return fail(ATTUNE_INVALID_ARGUMENT, !model ? "model is null" : !text ? "text is null" : "inputs: expected at least one text");
  attune_text_generation_options own;
  attune_text_generation_options_init(&own);
  if (options && options->struct_bytes != sizeof(own))
    return fail(ATTUNE_INVALID_ARGUMENT, "options: expected struct_bytes %zu, got %zu: call attune_text_generation_options_init",
                sizeof(own), options->struct_bytes);
  if (options)
    own = *options;
  return TextCall(model, text, own).run(inputs, num_inputs, out_generation);
}

void attune_text_generation_free(attune_text_generation *generation) { freeStored(reinterpret_cast<StoredTexts *>(generation)); }
