//===- Model.h - From pieces of text to tokens ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_MODEL_H
#define ATTUNE_RUNTIME_TEXT_MODEL_H

#include "runtime/text/AlignedText.h"
#include "runtime/text/PieceCache.h"
#include "runtime/text/Tables.h"

namespace attune::text {

/// The place of a token in its text, for offsets, words and truncation.
struct TokenDetail {
  uint32_t word;       ///< index of the piece or added token in the text
  OriginalRange range; ///< original bytes; [0, 0) if the token has no bytes or offsets are not wanted
  uint32_t leading;    ///< of an added token: white-space characters at the beginning of its text; else kNoId
  uint32_t trailing;   ///< the same at the end
};

/// The tokens of texts. Details are kept only if |detailed|.
struct TokenList {
  Array<uint32_t> ids;
  Array<TokenDetail> details;
  bool detailed = false;

  /// Allocates room for |capacity| tokens, or for as many as fit.
  void open(Memory &memory, size_t capacity, bool withDetails) {
    detailed = withDetails;
    ids = memory.take<uint32_t>(capacity);
    if (detailed)
      details = memory.take<TokenDetail>(capacity);
  }
  bool full() const { return ids.full || details.full; }
  size_t size() const { return ids.size; }
  /// Removes the tokens from |size| on.
  void shrink(size_t size) {
    ids.size = size;
    if (detailed)
      details.size = size;
  }
};

/// A piece of a text: its bytes [begin, end).
struct PieceSpan {
  uint32_t begin, end;
};

/// Applies a tokenizer's model to pieces.
class Model {
public:
  /// Allocates the buffers. |capacity| is the largest number of bytes of a piece.
  void open(const Tables &tables, Memory &memory, size_t capacity);
  /// Allocates the cache, which is kept between calls.
  void openCache(Memory &memory) { cache.open(memory); }

  /// Begins a text, whose tokens are appended to |target|. With |ranges|, the tokens get their ranges; |target| must
  /// then have details.
  void begin(TokenList *target, bool ranges) {
    tokens = target;
    wantRanges = ranges;
    word = 0;
  }
  /// Appends the tokens of |count| pieces of |text|, none of which is empty; each is a word.
  void tokenize(const AlignedText &text, const PieceSpan *pieces, size_t count);
  /// Appends the token |id|, whose text is all of |piece|, as the next word.
  void addWhole(uint32_t id, const AlignedText &piece);
  /// Returns true if since |open| a piece needed the unknown token but the vocabulary has none.
  bool missedUnknown() const { return unknownMissing; }
  bool full() const { return scratchFull; }

private:
  /// Appends a token, the bytes [begin, end) of |piece|.
  void add(uint32_t id, const AlignedText &piece, size_t begin, size_t end) {
    if (numEnds < PieceCache::kMostTokens)
      ends[numEnds] = uint8_t(end);
    ++numEnds;
    tokens->ids.push(id < tables->settings.vocabSize ? id : 0);
    if (tokens->detailed)
      addDetail(piece, begin, end);
  }
  void addDetail(const AlignedText &piece, size_t begin, size_t end) {
    OriginalRange range = {};
    if (wantRanges && begin < end)
      range = {piece.rangeAt(begin).begin, piece.rangeAt(end - 1).end};
    tokens->details.push({word, range, kNoId, kNoId});
  }
  template <bool Detailed>
  void tokenizeCached(const AlignedText &text, const PieceSpan *pieces, size_t count, bool areWords);
  template <bool Detailed>
  void addCached(const PieceCache::Record &record, const AlignedText &piece);
  void tokenizeMissing(const AlignedText &piece, const PieceCache::Key *key);
  void tokenizePiece(const AlignedText &piece);
  void tokenizeUnits(const AlignedText &text, PieceSpan piece);
  void tokenizeSpans(const AlignedText &text, const PieceSpan *pieces, size_t count, bool areWords);
  void tokenizeWordPiece(const AlignedText &piece);
  void tokenizeWordLevel(const AlignedText &piece);
  void tokenizeUnigram(const AlignedText &piece);
  void addUnknown(const AlignedText &piece, size_t begin, size_t end);
  void tokenizeBpe(const AlignedText &piece);

  /// A symbol of BPE: a token made so far, and the number of its bytes in the piece, 0 if it was joined to the symbol
  /// before it. |previous| and |next| are the indices of its neighbors in mergeLong, -1 if there is none;
  /// those of a joined symbol are links of mergeLong's list of symbols that wait.
  struct Symbol {
    uint32_t id, size;
    int32_t previous, next;
  };
  void startBpe(const AlignedText &piece);
  void startBpeCharacters(const AlignedText &piece);
  void joinUnknown(const AlignedText &piece);
  void mergeShort();
  void mergeLong();
  void pushPair(size_t left);

  const Tables *tables = nullptr;
  TokenList *tokens = nullptr;
  bool wantRanges = false, unknownMissing = false, scratchFull = false;
  uint32_t word = 0;
  /// |ends| has the ends in bytes of the first kMostTokens tokens of the current piece, |numEnds| is the number of all
  /// its tokens. |cacheable| is false if a token does not begin where the one before it ends; the cache cannot keep
  /// such tokens.
  uint8_t ends[PieceCache::kMostTokens];
  size_t numEnds = 0;
  bool cacheable = true;
  PieceCache cache;
  Array<Symbol> symbols;
  Array<uint64_t> heap;
  /// Unigram: element i of |path| has the score of the best sequence of tokens for the first i bytes of the piece, and
  /// the start and the id of the last of these tokens. |start| is kNoId if no tokens cover exactly these bytes.
  struct PathNode {
    double score;
    uint32_t start, id;
  };
  Array<PathNode> path;
  Array<uint32_t> cuts;
  uint32_t continuingRoot = kNoId; ///< WordPiece: the trie's node of the continuing prefix, kNoId if none
};

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_MODEL_H
