//===- AddedTokens.h - Finding added tokens in texts ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_ADDEDTOKENS_H
#define ATTUNE_RUNTIME_TEXT_ADDEDTOKENS_H

#include "runtime/text/Tables.h"

namespace attune::text {

/// The set of the bytes with which the added tokens of a trie begin. A search skips all positions of a text with other
/// bytes.
struct FirstBytes {
  bool any = false, isFirst[256];
  int only = -1; ///< the byte if the set has exactly one, else -1

  void open(const Trie &trie) {
    int count = 0;
    for (int byte = 0; byte < 256; ++byte) {
      isFirst[byte] = trie && trie.begins(uint8_t(byte));
      count += isFirst[byte];
      only = isFirst[byte] ? byte : only;
    }
    any = count > 0;
    only = count == 1 ? only : -1;
  }
};

/// Splits a text at the added tokens of one trie. Searches from left to right and takes the longest token that begins
/// at a position. With |skipSpecial|, special tokens stay text. With |skipSpecial| and the rule kRuleSplitsAdded, all
/// added tokens stay text.
class AddedTokenMatches {
public:
  AddedTokenMatches(const Tables &tables, const Trie &trie, const FirstBytes &first, bool skipSpecial, const uint8_t *text, size_t size)
      : tables(tables), trie(trie), first(first), skipSpecial(skipSpecial), text(text), size(size) {}

  /// Sets [|begin|, |end|) to the bytes of the next part of the text and |id| to its token, kNoId for text between
  /// tokens. A token may include the white space after it (kTokenStripRight), and the next token may begin in that
  /// white space. Then the two parts overlap, as in Hugging Face's tokenizers. But if the next token has
  /// kTokenStripLeft, its part begins where the white space ends; the token is skipped if nothing is left of it.
  /// Returns false at the end of the text.
  bool next(size_t &begin, size_t &end, uint32_t &id);

private:
  bool findMatch(size_t &begin, size_t &end, uint32_t &id);
  bool isWord(uint32_t character) const { return tables.characters(character) & kCharWord; }

  const Tables &tables;
  const Trie &trie;
  const FirstBytes &first;
  bool skipSpecial;
  const uint8_t *text;
  size_t size;
  size_t searchAt = 0; ///< the search for the next token begins at this byte
  size_t emitted = 0;  ///< the end of the last part that |next| returned
  bool hasMatch = false;
  size_t matchBegin = 0, matchEnd = 0;
  uint32_t matchId = kNoId;
};

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_ADDEDTOKENS_H
