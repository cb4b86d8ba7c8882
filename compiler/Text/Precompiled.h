//===- Precompiled.h - SentencePiece's character maps ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_PRECOMPILED_H
#define ATTUNE_COMPILER_TEXT_PRECOMPILED_H

#include "compiler/Support/Status.h"
#include "runtime/text/TextTables.h"

#include <string>
#include <vector>

namespace attune::text {

/// A map from strings of a text to their replacements, as a trie of the strings.
struct PrecompiledMap {
  std::vector<TrieUnit> units; ///< values are offsets into |replacements| in bytes
  std::string replacements;    ///< for each replacement: its size in bytes (u32), then the text
};

/// Parses `precompiled_charsmap` of tokenizer.json: base64 of the bytes that parsePrecompiledBytes takes.
Result<PrecompiledMap> parsePrecompiled(const std::string &base64);
/// Returns |bytes| in base64.
std::string encodeBase64(const std::string &bytes);
/// Parses the map of a SentencePiece model: the size of a double-array trie in bytes (u32), the trie, and strings that
/// end with NUL. No bytes give an empty map. Fails if the bytes are malformed or the map is too large.
Result<PrecompiledMap> parsePrecompiledBytes(const std::string &bytes);

/// Returns the size in bytes of the trie in |bytes|, a map as parsePrecompiledBytes takes it. The trie begins at byte 4
/// and the strings follow the trie. Fails if the bytes are too few for that.
Result<size_t> measurePrecompiledTrie(const std::string &bytes);

} // namespace attune::text

#endif // ATTUNE_COMPILER_TEXT_PRECOMPILED_H
