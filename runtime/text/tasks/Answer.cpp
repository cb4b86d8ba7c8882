//===- Answer.cpp - Answers in a context ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A context that is longer than the model takes becomes windows that overlap. In each window the model scores every
// token as the beginning and as the end of an answer; the score of a span is the product of the two probabilities. The
// best spans of all windows compete; spans whose texts are equal, case ignored, are one answer, whose scores add up.
//===----------------------------------------------------------------------===//

#include "runtime/src/Error.h"
#include "runtime/text/chat/Unicode.h"
#include "runtime/text/tasks/Characters.h"
#include "runtime/text/tasks/Task.h"

#include <cmath>
#include <cstring>

using namespace attune;
using namespace attune::text;

static constexpr int64_t kMostAnswers = 1024, kReferenceLength = 384, kReferenceStride = 128;
/// The logit that replaces those of tokens that cannot be part of an answer.
static constexpr float kHidden = -10000.0f;

void attune_answer_options_init(attune_answer_options *options) {
  if (!options)
    return;
  memset(options, 0, sizeof(*options));
  options->struct_bytes = sizeof(*options);
  options->top_k = 1;
  options->max_answer = 15;
  options->align_to_words = 1;
}

namespace {

/// A span of tokens of a window, |begin| to |end|, both included, with its score.
struct TokenSpanScore {
  int32_t begin, end;
  float score;
};

/// Collects the answers of all windows, window by window.
class AnswerFinder {
public:
  AnswerFinder(attune_task &task, const attune_answer_options &options, const char *context, size_t bytes, bool contextFirst)
      : task(task), options(options), context(context), contextFirst(contextFirst), places(context, bytes) {}

  /// Takes memory for windows of |length| tokens, and all remaining memory for answers. Returns false if the task has
  /// too little memory.
  bool open(size_t length);
  /// Adds the best spans of the window |encoding|, whose logits are given. Fails with INVALID_ARGUMENT (NaN or infinite
  /// logits) or LIMIT_EXCEEDED (too many answers).
  attune_status addWindow(const attune_encoding &encoding, const float *startLogits, const float *endLogits);
  /// Adds the empty answer if options.allow_none, sorts the answers, best first, and returns at most top_k.
  Array<attune_answer> finish();

private:
  bool normalize(const float *logits, Array<float> &out);
  void chooseSpans(int64_t length);
  void addSpan(const attune_encoding &encoding, const TokenSpanScore &span);
  /// Returns the answer with the characters and the score of |span|. If options.align_to_words is set and both ends of
  /// |span| have word ids, the characters are those of whole words.
  attune_answer charactersOf(const attune_encoding &encoding, const TokenSpanScore &span);
  bool equalsIgnoringCase(const attune_answer &a, const attune_answer &b) const;

  attune_task &task;
  const attune_answer_options &options;
  const char *context;
  bool contextFirst;
  CharacterPlaces places;
  float leastNone = 1000000;
  Array<float> starts, ends;
  Array<uint8_t> allowed;
  Array<TokenSpanScore> spans;
  Array<attune_answer> answers;
};

} // namespace

bool AnswerFinder::open(size_t length) {
  Memory &memory = task.results;
  size_t wanted = size_t(options.align_to_words ? options.top_k * 2 + 10 : options.top_k);
  starts = memory.take<float>(length);
  ends = memory.take<float>(length);
  allowed = memory.take<uint8_t>(length);
  spans = memory.take<TokenSpanScore>(wanted);
  answers = memory.take<attune_answer>(memory.left() / sizeof(attune_answer));
  return spans.capacity == wanted && answers.capacity > wanted;
}

/// Writes the softmax of |logits| to |out|; kHidden replaces the logits of tokens that are not |allowed|. Returns false
/// if the softmax has no value.
bool AnswerFinder::normalize(const float *logits, Array<float> &out) {
  out.clear();
  for (size_t i = 0; i < allowed.size; ++i)
    out.push(allowed[i] ? logits[i] : kHidden);
  return softmax(out.data, int64_t(out.size));
}

/// Sets |spans| to the best spans of a window of |length| tokens, best first: spans.capacity of them, or all if there
/// are fewer.
void AnswerFinder::chooseSpans(int64_t length) {
  spans.clear();
  for (int64_t begin = 0; begin < length; ++begin)
    for (int64_t end = begin; end < length && end < begin + options.max_answer; ++end) {
      float score = starts[size_t(begin)] * ends[size_t(end)];
      if (spans.size == spans.capacity && !(score > spans[spans.size - 1].score))
        continue;
      if (spans.size < spans.capacity)
        spans.push({});
      size_t at = spans.size - 1;
      for (; at > 0 && score > spans[at - 1].score; --at)
        spans[at] = spans[at - 1];
      spans[at] = {int32_t(begin), int32_t(end), score};
    }
}

attune_answer AnswerFinder::charactersOf(const attune_encoding &encoding, const TokenSpanScore &span) {
  int64_t begin = encoding.offsets[2 * span.begin], end = encoding.offsets[2 * span.end + 1];
  int32_t firstWord = encoding.word_ids[span.begin], lastWord = encoding.word_ids[span.end];
  if (options.align_to_words && firstWord >= 0 && lastWord >= 0) {
    const int32_t sequence = contextFirst ? 0 : 1;
    bool found = false;
    for (int64_t i = 0; i < encoding.length; ++i) {
      if (encoding.sequence_ids[i] != sequence)
        continue;
      if (!found && encoding.word_ids[i] == firstWord) {
        begin = encoding.offsets[2 * i];
        found = true;
      }
      if (encoding.word_ids[i] == lastWord)
        end = encoding.offsets[2 * i + 1];
    }
  }
  attune_answer answer = {span.score, begin, end, 0, 0};
  answer.begin_byte = places.offsetOf(begin);
  answer.end_byte = places.offsetOf(end);
  if (answer.end_byte < answer.begin_byte)
    answer.end_byte = answer.begin_byte;
  return answer;
}

bool AnswerFinder::equalsIgnoringCase(const attune_answer &a, const attune_answer &b) const {
  // Reads a text as its lower-case characters, one by one.
  struct Lowered {
    const uint8_t *at, *end;
    chat::CaseImage image = {};
    uint32_t next = 0;
    bool read(uint32_t &character) {
      if (next >= image.count) {
        if (at >= end)
          return false;
        Character read = decodeCharacter(at, end);
        at += read.bytes;
        image = chat::lowerCaseOf(read.value);
        next = 0;
        if (image.count == 0) {
          character = read.value;
          return true;
        }
      }
      character = image.characters[next++];
      return true;
    }
  };
  const uint8_t *text = reinterpret_cast<const uint8_t *>(context);
  Lowered left = {text + a.begin_byte, text + a.end_byte}, right = {text + b.begin_byte, text + b.end_byte};
  for (uint32_t x, y;;) {
    bool hasX = left.read(x), hasY = right.read(y);
    if (hasX != hasY || !hasX)
      return hasX == hasY;
    if (x != y)
      return false;
  }
}

void AnswerFinder::addSpan(const attune_encoding &encoding, const TokenSpanScore &span) {
  if (!allowed[size_t(span.begin)] || !allowed[size_t(span.end)])
    return;
  attune_answer answer = charactersOf(encoding, span);
  for (size_t i = 0; i < answers.size; ++i)
    if (equalsIgnoringCase(answers[i], answer)) {
      answers[i].score += answer.score;
      return;
    }
  answers.push(answer);
}

attune_status AnswerFinder::addWindow(const attune_encoding &encoding, const float *startLogits, const float *endLogits) {
  size_t clsBytes;
  const char *cls = task.settings.stringAt(task.settings.header.clsToken, clsBytes);
  static const char *const usual[] = {"[CLS]", "<s>"};
  for (const char *known : usual)
    if (!clsBytes && attune_text_token_id(task.text, known, strlen(known)) >= 0) {
      cls = known;
      clsBytes = strlen(known);
    }
  const int64_t clsId = clsBytes ? attune_text_token_id(task.text, cls, clsBytes) : -1;
  allowed.clear();
  for (int64_t i = 0; i < encoding.length; ++i)
    allowed.push(encoding.sequence_ids[i] == (contextFirst ? 0 : 1) || encoding.ids[i] == clsId);
  if (!normalize(startLogits, starts) || !normalize(endLogits, ends))
    return fail(ATTUNE_INVALID_ARGUMENT, "the context: expected logits that are numbers, got NaN or infinite ones");
  float none = starts[0] * ends[0];
  leastNone = none < leastNone ? none : leastNone;
  starts[0] = ends[0] = 0;
  chooseSpans(encoding.length);
  for (size_t i = 0; i < spans.size; ++i)
    addSpan(encoding, spans[i]);
  // The empty answer of finish() needs a place, too.
  const bool isFull = answers.full || (options.allow_none && answers.size == answers.capacity);
  return isFull ? fail(ATTUNE_LIMIT_EXCEEDED, "the context has more candidates than the task has memory for: raise max_text_bytes")
                : ATTUNE_OK;
}

Array<attune_answer> AnswerFinder::finish() {
  if (options.allow_none)
    answers.push({leastNone, 0, 0, 0, 0});
  // Insertion sort keeps the order of answers with equal scores.
  for (size_t i = 1; i < answers.size; ++i) {
    attune_answer moved = answers[i];
    size_t at = i;
    for (; at > 0 && moved.score > answers[at - 1].score; --at)
      answers[at] = answers[at - 1];
    answers[at] = moved;
  }
  answers.size = answers.size < size_t(options.top_k) ? answers.size : size_t(options.top_k);
  return answers;
}

/// Sets |options| to |given|, or to the defaults if |given| is null, with the values of |task| for a max_length or
/// stride of 0. Fails with INVALID_ARGUMENT for values out of range.
static attune_status completeOptions(const attune_task &task, const attune_answer_options *given, attune_answer_options &options) {
  attune_answer_options_init(&options);
  if (given)
    options = *given;
  if (options.struct_bytes != sizeof(options))
    return fail(ATTUNE_INVALID_ARGUMENT, "options: expected struct_bytes %zu, got %zu: call attune_answer_options_init", sizeof(options),
                options.struct_bytes);
  if (options.max_length == 0)
    options.max_length = task.maxLength < kReferenceLength ? task.maxLength : kReferenceLength;
  if (options.stride == 0)
    options.stride = options.max_length / 2 < kReferenceStride ? options.max_length / 2 : kReferenceStride;
  if (options.top_k < 1 || options.top_k > kMostAnswers || options.max_answer < 1)
    return fail(ATTUNE_INVALID_ARGUMENT, "top_k and max_answer: expected 1 to %lld and at least 1, got %lld and %lld",
                static_cast<long long>(kMostAnswers), static_cast<long long>(options.top_k), static_cast<long long>(options.max_answer));
  if (options.max_length < 1 || options.max_length > task.maxLength || options.stride < 0 || options.stride > options.max_length)
    return fail(ATTUNE_INVALID_ARGUMENT, "max_length and stride: expected 1 to %lld and at most max_length, got %lld and %lld",
                static_cast<long long>(task.maxLength), static_cast<long long>(options.max_length), static_cast<long long>(options.stride));
  return ATTUNE_OK;
}

attune_status attune_answer_question(attune_task *task, const char *question, size_t questionBytes, const char *context,
                                     size_t contextBytes, const attune_answer_options *given, const attune_answer **outAnswers,
                                     size_t *outNum) {
  if (!outAnswers || !outNum)
    return fail(ATTUNE_INVALID_ARGUMENT, "out_answers or out_num is null");
  *outAnswers = nullptr;
  *outNum = 0;
  ATTUNE_TRY(checkKind(task, ATTUNE_TASK_ANSWER));
  CallLock lock;
  ATTUNE_TRY(lock.take(task->running, "task"));
  attune_answer_options options;
  ATTUNE_TRY(completeOptions(*task, given, options));
  if (!question || !context || !questionBytes || !contextBytes)
    return fail(ATTUNE_INVALID_ARGUMENT, "the %s is empty", question && questionBytes ? "context" : "question");
  if (questionBytes > task->maxTextBytes || contextBytes > task->maxTextBytes - questionBytes)
    return fail(ATTUNE_LIMIT_EXCEEDED, "expected at most %zu bytes (max_text_bytes), got %zu", task->maxTextBytes,
                questionBytes + contextBytes);
  attune_encode_options encode;
  attune_encode_options_init(task->text, &encode);
  // As in the pipeline of transformers, questions come after contexts if the tokenizer pads on the left.
  const bool contextFirst = encode.pad_left != 0;
  attune_text_input input = {question, questionBytes, context, contextBytes};
  if (contextFirst)
    input = {context, contextBytes, question, questionBytes};
  encode.want_offsets = encode.want_overflow = 1;
  encode.truncation = contextFirst ? ATTUNE_TRUNCATE_ONLY_FIRST : ATTUNE_TRUNCATE_ONLY_SECOND;
  encode.max_length = options.max_length;
  encode.stride = options.stride;
  const attune_encoding *encodings;
  size_t count;
  ATTUNE_TRY(attune_tokenizer_encode(task->tokenizer, &input, 1, &encode, &encodings, &count));

  task->numCut = 0;
  task->results.release(0);
  AnswerFinder finder(*task, options, context, contextBytes, contextFirst);
  if (!finder.open(size_t(task->maxLength)))
    return fail(ATTUNE_LIMIT_EXCEEDED, "%lld answers need more memory than the task has: raise max_text_bytes",
                static_cast<long long>(options.top_k));
  for (size_t first = 0; first < count;) {
    size_t batch = count - first < size_t(task->maxBatch) ? count - first : size_t(task->maxBatch);
    task->ids.clear();
    task->rows.clear();
    for (size_t i = 0; i < batch; ++i) {
      const attune_encoding &window = encodings[first + i];
      if (window.length == 0)
        return fail(ATTUNE_INVALID_ARGUMENT, "the question and the context have no tokens");
      TokenRow row = {uint32_t(task->ids.size), uint32_t(window.length), uint32_t(i)};
      memcpy(task->ids.data + row.begin, window.ids, size_t(window.length) * sizeof(int32_t));
      memcpy(task->types.data + row.begin, window.type_ids, size_t(window.length) * sizeof(int32_t));
      task->ids.size += size_t(window.length);
      task->rows.push(row);
    }
    ATTUNE_TRY(runBatch(*task, 0, batch, 0));
    int64_t length = 1;
    for (size_t i = 0; i < batch; ++i)
      length = task->rows[i].length > length ? task->rows[i].length : length;
    for (size_t i = 0; i < batch; ++i)
      ATTUNE_TRY(
          finder.addWindow(encodings[first + i], resultsOf(*task, 0) + int64_t(i) * length, resultsOf(*task, 1) + int64_t(i) * length));
    first += batch;
  }
  Array<attune_answer> answers = finder.finish();
  *outAnswers = answers.data;
  *outNum = answers.size;
  return ATTUNE_OK;
}
