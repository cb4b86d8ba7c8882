//===- RowText.h - The text of one row as its ids come --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ids become text in three steps. A decode stream takes the ids of the prompt and then the new ids, because the text of
// an id may depend on the ids before it, and emits complete characters. The next step removes the text of the prompt.
// The stop matcher holds back text that may begin a stop string.
//
//   ids of the prompt, then new ids -> attune_decode_stream -> remove the prompt -> StopMatcher -> sink
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

/// The settings that all rows of a generation share. The pointers are borrowed.
struct RowSettings {
  const attune_text *text;
  bool keepSpecial; ///< special tokens and end ids become text, too
  const StopSet *stops;
  const int64_t *ends; ///< end ids; those from index |numPlainEnds| on are tokens of stop strings
  size_t numEnds, numPlainEnds;
};

/// The text of one row.
class RowText {
public:
  /// Creates the decode stream, which takes memory. |states| has room for one number for each stop string. Both
  /// arguments are borrowed until close().
  attune_status open(const RowSettings &settings, size_t *states);
  void close();

  /// Begins a new text, which follows the prompt of |count| ids at |before|. A |count| of 0 means no prompt.
  template <typename Id>
  attune_status begin(const Id *before, int64_t count);
  /// Adds |id| and hands the text that is now complete to |sink|. Sets |answer| to the last answer of |sink|, or to
  /// GO_ON if |sink| is not called. If |id| ends the text, an answer GO_ON becomes END_ROW.
  attune_status push(int64_t id, const PieceSink &sink, int &answer);
  /// Ends the text and hands its rest to |sink|, whose answer is ignored. Sets the finish reason to |reason|, or to
  /// FINISH_STOP if the rest completes a stop string. Does nothing if the text has ended.
  attune_status finish(attune_finish reason, const PieceSink &sink);

  bool hasEnded() const { return ended; }
  attune_finish finishReason() const { return reason; }
  /// Returns the number of calls of push() since begin(), an end id included.
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
  bool cut = false;   ///< the next byte of the stream may be in the middle of a character
  bool muted = false; ///< the sink has answered other than GO_ON, so it gets no more text
  bool ended = false;
  attune_finish reason = ATTUNE_FINISH_LENGTH;
  int64_t count = 0;
};

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_GENERATION_ROWTEXT_H
