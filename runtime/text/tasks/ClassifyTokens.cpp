//===- ClassifyTokens.cpp - Labels of tokens ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tokens become words, each with one label, and neighboring words whose labels belong together become spans. With
// ATTUNE_AGGREGATE_SIMPLE spans are made of tokens instead, and with ATTUNE_AGGREGATE_NONE each token is a span.
//
//     tokens   Mic    ##ro   ##soft  in     New    York
//     labels   B-ORG  I-PER  I-ORG   O      B-LOC  I-LOC
//     words    B-ORG                 O      B-LOC  I-LOC      (ATTUNE_AGGREGATE_FIRST)
//     spans    ORG                   O      LOC               (O only with keep_outside)
//===----------------------------------------------------------------------===//

#include "runtime/src/Error.h"
#include "runtime/text/tasks/Characters.h"
#include "runtime/text/tasks/Task.h"
#include "runtime/text/Tokenizer.h"

#include <cmath>
#include <cstring>

using namespace attune;
using namespace attune::text;

namespace {

/// A token of the text, or a word of one or more tokens, with its best label and the score of this label.
struct Piece {
  uint32_t firstToken, lastToken; ///< indices in the encoding, both included
  int64_t label;
  float score;
};

/// Finds the spans of one text, whose logits are in the output of the task; find() replaces the logits by
/// probabilities.
class SpanFinder {
public:
  SpanFinder(attune_task &task, const attune_text_input &text, const attune_encoding &encoding, attune_aggregation aggregation)
      : task(task), text(text), encoding(encoding), aggregation(aggregation), places(text.text, text.bytes) {}

  attune_status find(bool keepOutside, Array<attune_span> &spans);

private:
  const float *scoresOf(uint32_t token) const { return resultsOf(task, 0) + int64_t(token) * task.shape.features; }
  int64_t bestOf(const float *scores) const;
  /// Returns the string of |token| in the vocabulary; for an unknown token, the part of the text that it stands for.
  Bytes wordOf(uint32_t token);
  Bytes textOf(uint32_t token);
  bool isUnknown(uint32_t token) const { return unknownId >= 0 && encoding.ids[token] == unknownId; }
  /// Returns true if |token| continues the word of the token before it.
  bool continuesWord(uint32_t token);
  /// Makes a word of tokens [first, last], whose label |aggregation| chooses.
  Piece makeWord(uint32_t first, uint32_t last);
  /// Appends a span of pieces [begin, end), unless its label is "O" and |keepOutside| is false. Fails with
  /// LIMIT_EXCEEDED if the task has too little memory.
  attune_status addSpan(const Array<Piece> &pieces, size_t begin, size_t end, bool keepOutside, Array<attune_span> &spans);
  /// Writes the decoded text of tokens [first, last] to memory of the results and sets the word of |span| to it. Fails
  /// with LIMIT_EXCEEDED if the task or the tokenizer has too little memory.
  attune_status writeWords(uint32_t first, uint32_t last, attune_span &span);

  attune_task &task;
  const attune_text_input &text;
  const attune_encoding &encoding;
  attune_aggregation aggregation;
  CharacterPlaces places;
  int64_t unknownId = -1;
  bool hasPrefix = false;
  Array<float> means;
};

/// A label without its prefix "B-" or "I-"; |begins| is true if the prefix is "B-".
struct Tag {
  const char *name;
  bool begins;
};

} // namespace

static attune_status isFull() { return fail(ATTUNE_LIMIT_EXCEEDED, "the spans need more memory than the task has: raise max_text_bytes"); }

static Tag tagOf(const char *label) {
  if (strncmp(label, "B-", 2) == 0)
    return {label + 2, true};
  return {strncmp(label, "I-", 2) == 0 ? label + 2 : label, false};
}

int64_t SpanFinder::bestOf(const float *scores) const {
  int64_t best = 0;
  for (int64_t i = 1; i < task.shape.features; ++i)
    best = scores[i] > scores[best] ? i : best;
  return best;
}

Bytes SpanFinder::textOf(uint32_t token) {
  size_t begin = places.offsetOf(encoding.offsets[2 * token]), end = places.offsetOf(encoding.offsets[2 * token + 1]);
  return {reinterpret_cast<const uint8_t *>(text.text) + begin, end > begin ? end - begin : 0};
}

Bytes SpanFinder::wordOf(uint32_t token) {
  if (isUnknown(token))
    return textOf(token);
  size_t bytes;
  const char *string = attune_text_token(task.text, encoding.ids[token], &bytes);
  return {reinterpret_cast<const uint8_t *>(string ? string : ""), bytes};
}

bool SpanFinder::continuesWord(uint32_t token) {
  if (isUnknown(token))
    return false;
  if (hasPrefix) {
    Bytes word = wordOf(token), part = textOf(token);
    return countCharacters(reinterpret_cast<const char *>(word.data), word.size) !=
           countCharacters(reinterpret_cast<const char *>(part.data), part.size);
  }
  int64_t begin = encoding.offsets[2 * token];
  if (begin <= 0)
    return false;
  size_t before = places.offsetOf(begin - 1), after = places.offsetOf(begin + 1);
  return !memchr(text.text + before, ' ', after - before);
}

Piece SpanFinder::makeWord(uint32_t first, uint32_t last) {
  const int64_t labels = task.shape.features;
  const float *scores = scoresOf(first);
  if (aggregation == ATTUNE_AGGREGATE_MAX) {
    for (uint32_t token = first + 1; token <= last; ++token)
      if (const float *other = scoresOf(token); other[bestOf(other)] > scores[bestOf(scores)])
        scores = other;
  } else if (aggregation == ATTUNE_AGGREGATE_AVERAGE) {
    for (int64_t i = 0; i < labels; ++i) {
      means[size_t(i)] = 0;
      for (uint32_t token = first; token <= last; ++token)
        means[size_t(i)] += scoresOf(token)[i];
      means[size_t(i)] /= float(last - first + 1);
    }
    scores = means.data;
  }
  int64_t best = bestOf(scores);
  return {first, last, best, scores[best]};
}

attune_status SpanFinder::writeWords(uint32_t first, uint32_t last, attune_span &span) {
  const char *decoded;
  size_t bytes;
  // Decoding overwrites the memory of the tokenizer, where the encoding was, so the ids come from the copy in task.ids.
  ATTUNE_TRY(attune_tokenizer_decode(task.tokenizer, task.ids.data + first, last - first + 1, 0, &decoded, &bytes));
  size_t extra = 0, unknownBytes = 0;
  const char *unknown = unknownId >= 0 ? attune_text_token(task.text, unknownId, &unknownBytes) : nullptr;
  for (uint32_t token = first; token <= last; ++token)
    extra += isUnknown(token) ? textOf(token).size : 0;
  Array<char> out = task.results.take<char>(bytes + extra + 1);
  if (out.capacity < bytes + extra + 1)
    return isFull();
  // Replaces the string of each unknown token, as "[UNK]", by the part of the text that the token stands for.
  uint32_t next = first;
  for (size_t at = 0; at < bytes;) {
    if (unknown && unknownBytes && bytes - at >= unknownBytes && memcmp(decoded + at, unknown, unknownBytes) == 0) {
      while (next <= last && !isUnknown(next))
        ++next;
      if (next <= last) {
        Bytes part = textOf(next++);
        memcpy(out.data + out.size, part.data, part.size);
        out.size += part.size;
        at += unknownBytes;
        continue;
      }
    }
    out.push(decoded[at++]);
  }
  span.word = out.data;
  span.word_bytes = out.size;
  return ATTUNE_OK;
}

attune_status SpanFinder::addSpan(const Array<Piece> &pieces, size_t begin, size_t end, bool keepOutside, Array<attune_span> &spans) {
  const Piece &first = pieces[begin], &last = pieces[end - 1];
  const char *label = attune_model_label(task.model, first.label);
  attune_span span = {first.label, 0, encoding.offsets[2 * first.firstToken], encoding.offsets[2 * last.lastToken + 1], -1, nullptr, 0};
  if (aggregation == ATTUNE_AGGREGATE_NONE) {
    if (!keepOutside && strcmp(label, "O") == 0)
      return ATTUNE_OK;
    Bytes word = wordOf(first.firstToken);
    span.score = first.score;
    span.index = first.firstToken;
    span.word = reinterpret_cast<const char *>(word.data);
    span.word_bytes = word.size;
    // The word of an unknown token is part of the caller's text, which the results may outlive.
    if (isUnknown(first.firstToken) && word.size) {
      Array<char> copy = task.results.take<char>(word.size);
      if (copy.capacity < word.size)
        return isFull();
      memcpy(copy.data, word.data, word.size);
      span.word = copy.data;
    }
  } else {
    const char *dash = strchr(label, '-');
    if (!keepOutside && strcmp(dash ? dash + 1 : label, "O") == 0)
      return ATTUNE_OK;
    for (size_t i = begin; i < end; ++i)
      span.score += pieces[i].score;
    span.score /= float(end - begin);
    ATTUNE_TRY(writeWords(first.firstToken, last.lastToken, span));
  }
  spans.push(span);
  return spans.full ? isFull() : ATTUNE_OK;
}

attune_status SpanFinder::find(bool keepOutside, Array<attune_span> &spans) {
  const Settings &settings = task.text->tables.settings;
  hasPrefix = (settings.model == ModelKind::WordPiece || settings.model == ModelKind::Bpe) && settings.continuingPrefix.bytes > 0;
  size_t bytes;
  const char *unknown = task.settings.stringAt(task.settings.header.unknownToken, bytes);
  unknownId = bytes ? attune_text_token_id(task.text, unknown, bytes) : settings.unknownId == kNoId ? -1 : int64_t(settings.unknownId);
  const size_t length = size_t(encoding.length);
  Memory &memory = task.results;
  means = memory.take<float>(size_t(task.shape.features));
  Array<Piece> pieces = memory.take<Piece>(length);
  spans = memory.take<attune_span>(length);
  if (pieces.capacity < length || spans.capacity < length || means.capacity < size_t(task.shape.features))
    return isFull();
  float *logits = static_cast<float *>(task.batchOutputs[task.shape.outputs[0]]);
  bool byWords = aggregation > ATTUNE_AGGREGATE_SIMPLE;
  uint32_t wordBegin = 0, wordEnd = 0;
  bool inWord = false;
  for (uint32_t token = 0; token < length; ++token) {
    if (encoding.special_tokens_mask[token])
      continue;
    if (!softmax(logits + int64_t(token) * task.shape.features, task.shape.features))
      return fail(ATTUNE_INVALID_ARGUMENT, "token %u: expected logits that are numbers, got NaN or infinite ones", token);
    if (byWords && inWord && continuesWord(token)) {
      wordEnd = token;
      continue;
    }
    if (byWords && inWord)
      pieces.push(makeWord(wordBegin, wordEnd));
    wordBegin = wordEnd = token;
    inWord = true;
    if (!byWords) {
      int64_t best = bestOf(scoresOf(token));
      pieces.push({token, token, best, scoresOf(token)[best]});
    }
  }
  if (byWords && inWord)
    pieces.push(makeWord(wordBegin, wordEnd));

  for (size_t begin = 0, end; begin < pieces.size; begin = end) {
    end = begin + 1;
    while (aggregation != ATTUNE_AGGREGATE_NONE && end < pieces.size) {
      Tag tag = tagOf(attune_model_label(task.model, pieces[end].label)),
          last = tagOf(attune_model_label(task.model, pieces[end - 1].label));
      if (tag.begins || strcmp(tag.name, last.name) != 0)
        break;
      ++end;
    }
    ATTUNE_TRY(addSpan(pieces, begin, end, keepOutside, spans));
  }
  return ATTUNE_OK;
}

/// Sets |to| to |from| with copies of the arrays ids, special_tokens_mask and offsets in memory of the results, because
/// decoding overwrites the memory of the tokenizer, where the arrays of |from| are. Returns false if the memory does
/// not suffice.
static bool keepEncoding(attune_task &task, const attune_encoding &from, attune_encoding &to) {
  to = from;
  auto copy = [&](const int32_t *values, size_t count) -> const int32_t * {
    Array<int32_t> kept = task.results.take<int32_t>(count);
    if (kept.capacity < count)
      return nullptr;
    memcpy(kept.data, values, count * sizeof(int32_t));
    return kept.data;
  };
  const size_t length = size_t(from.length);
  to.ids = copy(from.ids, length);
  to.special_tokens_mask = copy(from.special_tokens_mask, length);
  to.offsets = copy(from.offsets, 2 * length);
  return to.ids && to.special_tokens_mask && to.offsets;
}

attune_status attune_classify_tokens(attune_task *task, const attune_text_input *text, attune_aggregation aggregation, int keepOutside,
                                     const attune_span **outSpans, size_t *outNum) {
  if (!outSpans || !outNum)
    return fail(ATTUNE_INVALID_ARGUMENT, "out_spans or out_num is null");
  *outSpans = nullptr;
  *outNum = 0;
  ATTUNE_TRY(checkKind(task, ATTUNE_TASK_CLASSIFY_TOKENS));
  CallLock lock;
  ATTUNE_TRY(lock.take(task->running, "task"));
  if (!text || aggregation < ATTUNE_AGGREGATE_NONE || aggregation > ATTUNE_AGGREGATE_MAX)
    return fail(ATTUNE_INVALID_ARGUMENT, text ? "aggregation: expected 0 to 4, got %d" : "text is null", aggregation);
  if (text->bytes > task->maxTextBytes)
    return fail(ATTUNE_LIMIT_EXCEEDED, "expected at most %zu bytes (max_text_bytes), got %zu", task->maxTextBytes, text->bytes);
  task->numCut = 0;
  task->ids.clear();
  task->rows.clear();
  attune_encode_options options = cutOptions(*task);
  options.want_offsets = 1;
  const attune_text_input single = {text->text, text->bytes, nullptr, 0}; // the pair is not used
  ATTUNE_TRY(appendText(*task, single, 0, options));
  const attune_encoding *encodings;
  size_t count;
  ATTUNE_TRY(attune_tokenizer_encode(task->tokenizer, &single, 1, &options, &encodings, &count));
  task->results.release(0);
  attune_encoding encoding;
  if (!keepEncoding(*task, encodings[0], encoding))
    return isFull();
  ATTUNE_TRY(runBatch(*task, 0, 1, 0));
  Array<attune_span> spans;
  ATTUNE_TRY(SpanFinder(*task, single, encoding, aggregation).find(keepOutside != 0, spans));
  *outSpans = spans.data;
  *outNum = spans.size;
  return ATTUNE_OK;
}
