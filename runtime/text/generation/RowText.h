//===- RowText.h - The text of one row as its ids come --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ids become text in three steps: the stream of the decoder, which emits complete characters; the prompt, which is
// decoded first so that the result joins it, and is left out; and the stop strings.
//
//   ids of the prompt and new ones -> attune_decode_stream -> leave out the prompt -> StopMatcher -> sink
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_GENERATION_ROWTEXT_H
#define ATTUNE_RUNTIME_TEXT_GENERATION_ROWTEXT_H

#include "StopMatcher.h"
#include "attune/text_generation.h"

namespace attune::text {

/// The receiver of the pieces of a text.
struct PieceSink {
  int (*take)(void *state, const char *piece, size_t bytes); ///< returns an attune_token_answer
  void *state;
};

/// The settings that all rows of a generation share. Everything is borrowed.
struct RowSettings {
  const attune_text *text;
  bool keepSpecial; ///< special tokens and end ids are text, too
  const StopSet *stops;
  const int64_t *ends; ///< end ids; those from |numPlainEnds| on are tokens of stop strings
  size_t numEnds, numPlainEnds;
};

/// The text of one row.
class RowText {
public:
  /// Takes memory for a stream; |states| has room for a number for each stop string. Both arguments are borrowed.
  attune_status open(const RowSettings &settings, size_t *states);
  void close();

  /// Begins a text that follows the |count| ids at |before|.
  template <typename Id>
  attune_status begin(const Id *before, int64_t count);
  /// Adds |id| and hands complete text to |sink|. Sets |answer| to the answer of the sink, or to GO_ON without one, but
  /// to END_ROW instead of GO_ON if the text ends with |id|.
  attune_status push(int64_t id, const PieceSink &sink, int &answer);
  /// Ends a text that has not ended and hands its rest to |sink|. The reason is |reason|, or FINISH_STOP if the rest
  /// completes a stop string.
  attune_status finish(attune_finish reason, const PieceSink &sink);

  bool hasEnded() const { return ended; }
  attune_finish finishReason() const { return reason; }
  /// Returns the number of ids that were pushed since |begin|.
  int64_t numIds() const { return count; }

private:
  void leaveOut(const char *&piece, size_t &bytes);
  void show(const char *piece, size_t bytes, const PieceSink &sink, int &answer);
  bool take(const char *piece, size_t bytes, const PieceSink &sink, int &answer);
  attune_status end(attune_finish why, const PieceSink &sink, int &answer);

  const RowSettings *settings = nullptr;
  attune_decode_stream *stream = nullptr;
  StopMatcher matcher;
  size_t leftOut = 0; ///< bytes of the prompt that the stream has not emitted yet
  bool cut = false;   ///< the first byte that is shown may be in the middle of a character
  bool muted = false; ///< the sink has ended the text
  bool ended = false;
  attune_finish reason = ATTUNE_FINISH_LENGTH;
  int64_t count = 0;
};

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_GENERATION_ROWTEXT_H
