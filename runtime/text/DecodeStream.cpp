//===- DecodeStream.cpp - Text as it comes --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stream keeps a window of ids: usually one id whose text is already returned, and the ids after it. A new id is
// decoded together with the window, and the text after the part that was returned is new:
//
//     window    [ "ld" ]    new id ","           decoded "ld" ","
//     out         ^^^^                           new "," after "ld"
//
// The first token of a text is decoded differently (a space is dropped). So is the first token of the window, which
// does no harm, since the text of that token is already returned. Text that a further token may change is held back:
// bytes that are not yet a character, runs of byte tokens, a suffix that the next token removes, and characters that a
// step may strip from the end. When all text is returned, the window shrinks to its last id if that id has a text of
// its own, so that the time for an id usually does not depend on its place in the text.
//===----------------------------------------------------------------------===//

#include "runtime/src/Error.h"
#include "runtime/text/Tokenizer.h"

#include <cerrno>
#include <cstring>
#include <new>
#include <sys/mman.h>

using namespace attune;
using namespace attune::text;

/// The largest number of ids of a window, and the number of bytes of address space that a stream reserves.
static constexpr size_t kMostIds = size_t(1) << 20;
static constexpr size_t kStreamBytes = size_t(256) << 20;

struct attune_decode_stream {
  const attune_text *text;
  bool skipSpecial;
  bool holdsAll;         ///< a step needs the whole text, which attune_decode_stream_finish returns
  bool hasByteTokens;    ///< a run of byte tokens is held back until it ends
  bool dropsBytes;       ///< DecodeByteLevel leaves out bytes that are not UTF-8
  bool trims;            ///< the last step removes white space at the ends of the whole text
  uint32_t stripFromEnd; ///< the character that a step strips from the end, kNoId if none
  Array<int32_t> ids;
  size_t out;       ///< bytes of the window's text that were returned
  Memory memory[2]; ///< for the text of the window, and for that of its last id
};

/// Sets the fields of |stream| that follow from the steps of the decoder.
static void examineSteps(attune_decode_stream &stream) {
  const Tables &tables = stream.text->tables;
  bool joined = false;
  for (uint32_t i = 0; i < tables.numSteps[3]; ++i) {
    const Step &step = tables.steps[tables.firstStep[3] + i].step;
    bool last = i + 1 == tables.numSteps[3];
    if (step.kind == StepKind::DecodeStrip) {
      // A step before the one that joins the tokens strips each token, which needs no more than the window.
      if (joined && step.c > 0)
        stream.stripFromEnd = step.a;
      stream.holdsAll |= joined && !last;
    } else if (step.kind == StepKind::DecodeTrim) {
      // The stream need not hold all text if this step is the last one and trims the joined text: the white space that
      // it removes at the end of the window comes out with the text after it.
      stream.holdsAll |= !joined || !last;
      stream.trims = last;
    } else if (joined && step.kind != StepKind::DecodeFuse) {
      stream.holdsAll = true;
    }
    const bool isPieces = step.kind == StepKind::DecodePieces;
    // A space between tokens comes out with the token after it.
    joined |=
        step.kind == StepKind::DecodeFuse || step.kind == StepKind::DecodeByteLevel || step.kind == StepKind::DecodeContinued || isPieces;
    stream.hasByteTokens |= step.kind == StepKind::DecodeByteFallback || (isPieces && (step.a & kDecodeByteTokens));
    stream.dropsBytes |= step.kind == StepKind::DecodeByteLevel && step.a;
  }
}

attune_status attune_decode_stream_create(const attune_text *text, int skipSpecialTokens, attune_decode_stream **outStream) {
  if (!outStream)
    return fail(ATTUNE_INVALID_ARGUMENT, "out_stream is null");
  *outStream = nullptr;
  if (!text || !text->hasTokenizer)
    return fail(ATTUNE_INVALID_ARGUMENT, text ? "'%s' has no tokenizer" : "text is null", text ? text->name : "");
  void *block = mmap(nullptr, kStreamBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block == MAP_FAILED)
    return fail(ATTUNE_OUT_OF_MEMORY, "cannot reserve %zu bytes for a stream: %s", kStreamBytes, strerror(errno));
  Memory memory;
  memory.open(block, kStreamBytes);
  attune_decode_stream *stream = new (memory.take<attune_decode_stream>(1).data) attune_decode_stream();
  stream->text = text;
  stream->skipSpecial = skipSpecialTokens != 0;
  stream->stripFromEnd = kNoId;
  stream->ids = memory.take<int32_t>(kMostIds);
  for (Memory &half : stream->memory) {
    Array<uint8_t> part = memory.take<uint8_t>(kStreamBytes / 2 - kMostIds * sizeof(int32_t));
    half.open(part.data, part.capacity);
  }
  examineSteps(*stream);
  *outStream = stream;
  return ATTUNE_OK;
}

void attune_decode_stream_destroy(attune_decode_stream *stream) {
  if (stream)
    munmap(stream, kStreamBytes);
}

/// Sets |text| to the text of the ids of the window from index |first| on; the text is in the stream's memory. Sets
/// |unstable| to the number of bytes at the end of |text| that further ids may change, and |incomplete| to
/// Decoder::endsInCharacter. Fails with LIMIT_EXCEEDED if the text does not fit into that memory.
static attune_status decodeWindow(attune_decode_stream &stream, size_t first, Bytes &text, size_t &unstable, bool &incomplete) {
  Decoder decoder;
  Memory &memory = stream.memory[first > 0];
  memory.release(0);
  if (!decoder.run(stream.text->tables, stream.ids.data + first, stream.ids.size - first, stream.skipSpecial, memory, text))
    return fail(ATTUNE_LIMIT_EXCEEDED, "the text of %zu ids that waits for its end is too long for a stream", stream.ids.size);
  incomplete = decoder.endsInCharacter();
  unstable = decoder.unstableBytes() < text.size ? decoder.unstableBytes() : text.size;
  // DecodeTrim removes white space at the end of the window, but not before unstable bytes, which may vanish.
  const bool trims = stream.trims && unstable > 0;
  if (stream.stripFromEnd != kNoId || trims) {
    const uint8_t *end = text.data + text.size - unstable;
    while (end > text.data) {
      Character c = decodeCharacterBefore(text.data, end);
      if (trims ? !(stream.text->tables.characters(c.value) & kCharWhiteSpace) : c.value != stream.stripFromEnd)
        break;
      end -= c.bytes;
    }
    unstable = size_t(text.data + text.size - end);
  }
  return ATTUNE_OK;
}

attune_status attune_decode_stream_push(attune_decode_stream *stream, int32_t id, const char **outText, size_t *outBytes) {
  if (!outText || !outBytes)
    return fail(ATTUNE_INVALID_ARGUMENT, "out_text or out_bytes is null");
  *outText = "";
  *outBytes = 0;
  if (!stream)
    return fail(ATTUNE_INVALID_ARGUMENT, "stream is null");
  const Tables &tables = stream->text->tables;
  // Ignores ids that decoding skips.
  if (id < 0 || uint32_t(id) >= tables.settings.vocabSize || !(tables.flags[size_t(id)] & kTokenExists) ||
      (stream->skipSpecial && (tables.flags[size_t(id)] & kTokenSkipped)))
    return ATTUNE_OK;
  stream->ids.push(id);
  if (stream->ids.full)
    return fail(ATTUNE_LIMIT_EXCEEDED, "more than %zu ids wait for the end of a text", kMostIds);
  if (stream->holdsAll || (stream->hasByteTokens && parseByteToken(tables.decodeStrings.get(size_t(id))) >= 0))
    return ATTUNE_OK;
  Bytes text;
  size_t unstable;
  bool incomplete, partial;
  ATTUNE_TRY(decodeWindow(*stream, 0, text, unstable, incomplete));
  size_t stable = text.size - unstable;
  if (stable <= stream->out)
    return ATTUNE_OK;
  const uint8_t *begin = text.data + stream->out;
  size_t size = stable - stream->out;
  stream->out = stable;
  if (stream->dropsBytes && !incomplete && stable == text.size) {
    // The window ends with a whole character, and further tokens do not change the text of the window. So the window
    // can be emptied.
    stream->ids.clear();
    stream->out = 0;
  } else if (unstable == 0 && stream->ids.size > 1) {
    // Keeps only the last id, if it has text of its own.
    Bytes alone;
    ATTUNE_TRY(decodeWindow(*stream, stream->ids.size - 1, alone, unstable, partial));
    if (alone.size > 0 && unstable == 0) {
      stream->ids[0] = stream->ids[stream->ids.size - 1];
      stream->ids.size = 1;
      stream->out = alone.size;
    }
  }
  *outText = reinterpret_cast<const char *>(begin);
  *outBytes = size;
  return ATTUNE_OK;
}

attune_status attune_decode_stream_finish(attune_decode_stream *stream, const char **outText, size_t *outBytes) {
  if (!outText || !outBytes)
    return fail(ATTUNE_INVALID_ARGUMENT, "out_text or out_bytes is null");
  *outText = "";
  *outBytes = 0;
  if (!stream)
    return fail(ATTUNE_INVALID_ARGUMENT, "stream is null");
  Bytes text;
  size_t unstable = 0;
  bool incomplete;
  attune_status status = decodeWindow(*stream, 0, text, unstable, incomplete);
  size_t out = stream->out;
  stream->ids.clear();
  stream->out = 0;
  ATTUNE_TRY(status);
  if (text.size > out) {
    *outText = reinterpret_cast<const char *>(text.data + out);
    *outBytes = text.size - out;
  }
  return ATTUNE_OK;
}
