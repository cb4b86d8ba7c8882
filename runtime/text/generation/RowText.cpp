//===- RowText.cpp - The text of one row as its ids come ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RowText.h"
#include "runtime/src/Error.h"

using namespace attune;
using namespace attune::text;

/// The number of ids at the end of a prompt that are decoded together with the result. Most decoders look back only to
/// the previous token and to a run of byte tokens directly before, so earlier ids rarely have an effect.
static constexpr int64_t kContextIds = 64;

attune_status RowText::open(const RowSettings &given, size_t *states) {
  settings = &given;
  matcher.open(*given.stops, states);
  return attune_decode_stream_create(given.text, !given.keepSpecial, &stream);
}

void RowText::close() {
  attune_decode_stream_destroy(stream);
  stream = nullptr;
}

template <typename Id>
attune_status RowText::begin(const Id *before, int64_t number) {
  matcher.reset();
  leftOut = 0;
  ended = cut = muted = false;
  reason = ATTUNE_FINISH_LENGTH;
  count = 0;
  const char *piece;
  size_t bytes;
  attune_decode_stream_finish(stream, &piece, &bytes); // an earlier text that failed may have left ids
  const Id *first = before + (number > kContextIds ? number - kContextIds : 0), *last = before + number;
  if (first == last)
    return ATTUNE_OK;
  // The first pass counts the bytes of the prompt's text. The second pass leaves the ids of the prompt in the stream,
  // so that the new ids continue their text.
  size_t total = 0;
  for (const Id *id = first; id < last; ++id) {
    ATTUNE_TRY(attune_decode_stream_push(stream, static_cast<int32_t>(*id), &piece, &bytes));
    total += bytes;
  }
  ATTUNE_TRY(attune_decode_stream_finish(stream, &piece, &bytes));
  leftOut = total + bytes;
  for (const Id *id = first; id < last; ++id) {
    ATTUNE_TRY(attune_decode_stream_push(stream, static_cast<int32_t>(*id), &piece, &bytes));
    leaveOut(piece, bytes);
  }
  return ATTUNE_OK;
}

template attune_status RowText::begin<int32_t>(const int32_t *, int64_t);
template attune_status RowText::begin<int64_t>(const int64_t *, int64_t);

/// Removes the bytes that belong to the prompt from the beginning of the piece.
void RowText::leaveOut(const char *&piece, size_t &bytes) {
  size_t part = leftOut < bytes ? leftOut : bytes;
  piece += part, bytes -= part, leftOut -= part;
  cut = cut || part > 0;
  if (bytes == 0 || !cut)
    return;
  // If the prompt ends within a character, |leftOut| counts a replacement character in its place. The complete
  // character may have more bytes; the rest of it is left out here.
  for (; bytes > 0 && (static_cast<uint8_t>(*piece) & 0xC0) == 0x80; ++piece)
    --bytes;
  cut = false;
}

/// Hands a piece to |sink| and sets |answer| to the answer of |sink|. Does nothing after an answer other than GO_ON.
void RowText::show(const char *piece, size_t bytes, const PieceSink &sink, int &answer) {
  if (!muted)
    answer = sink.take(sink.state, piece, bytes);
  muted = muted || answer != ATTUNE_TOKEN_GO_ON;
}

/// Adds a piece that the stream emitted, without the part that belongs to the prompt. Returns true if the piece
/// completes a stop string.
bool RowText::take(const char *piece, size_t bytes, const PieceSink &sink, int &answer) {
  leaveOut(piece, bytes);
  return bytes > 0 && matcher.add(piece, bytes, [&](const char *data, size_t size) { show(data, size, sink, answer); });
}

/// Ends the text and hands its rest to |sink|. Sets |reason| to |why|, or to FINISH_STOP if the rest completes a stop
/// string.
attune_status RowText::end(attune_finish why, const PieceSink &sink, int &answer) {
  ended = true;
  reason = why;
  const char *piece;
  size_t bytes;
  ATTUNE_TRY(attune_decode_stream_finish(stream, &piece, &bytes));
  if (take(piece, bytes, sink, answer)) {
    reason = ATTUNE_FINISH_STOP;
    return ATTUNE_OK;
  }
  matcher.finish([&](const char *data, size_t size) { show(data, size, sink, answer); });
  return ATTUNE_OK;
}

attune_status RowText::push(int64_t id, const PieceSink &sink, int &answer) {
  answer = ATTUNE_TOKEN_GO_ON;
  ++count;
  size_t index = 0;
  while (index < settings->numEnds && settings->ends[index] != id)
    ++index;
  bool isEnd = index < settings->numEnds;
  if (!isEnd || settings->keepSpecial) {
    const char *piece;
    size_t bytes;
    ATTUNE_TRY(attune_decode_stream_push(stream, static_cast<int32_t>(id), &piece, &bytes));
    if (take(piece, bytes, sink, answer)) {
      ended = true;
      reason = ATTUNE_FINISH_STOP;
      const char *ignored;
      ATTUNE_TRY(attune_decode_stream_finish(stream, &ignored, &bytes));
    }
  }
  if (isEnd && !ended)
    ATTUNE_TRY(end(index < settings->numPlainEnds ? ATTUNE_FINISH_END : ATTUNE_FINISH_STOP, sink, answer));
  if (answer == ATTUNE_TOKEN_END_ROW && !ended)
    ATTUNE_TRY(end(ATTUNE_FINISH_CALLBACK, sink, answer));
  if (ended && answer == ATTUNE_TOKEN_GO_ON)
    answer = ATTUNE_TOKEN_END_ROW;
  return ATTUNE_OK;
}

attune_status RowText::finish(attune_finish why, const PieceSink &sink) {
  int answer = ATTUNE_TOKEN_GO_ON;
  return ended ? ATTUNE_OK : end(why, sink, answer);
}
