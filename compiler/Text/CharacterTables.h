//===- CharacterTables.h - Character classes of tokenizers ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sets and mappings of code points. For each Unicode scalar value they agree with the reference library, the Python
// package `tokenizers`. generate_tables.py computes them, nearly all by calls of this package, and lists the libraries
// from which the package has each property.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_CHARACTERTABLES_H
#define ATTUNE_COMPILER_TEXT_CHARACTERTABLES_H

#include "compiler/Text/CodePointSet.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace attune::text {

/// Returns a hash of the numbers in the tables. Each .text file stores the hash.
uint64_t referenceId();
/// Returns the version of the package `tokenizers` that computed the tables.
const char *referenceVersion();

/// Returns the characters that `\p{name}` matches in regular expressions. |name| is a general category, a script, a
/// binary property, or one of Any, Assigned and ASCII; case, spaces, `_` and `-` in it are ignored. Returns nullopt for
/// an unknown name.
std::optional<CodePointSet> findProperty(const std::string &name);
/// Returns the characters that `\w` matches in regular expressions.
const CodePointSet &regexWord();
/// Returns the characters that `[[:punct:]]` matches.
const CodePointSet &regexPunctuation();
/// Returns all characters that a case-insensitive match of |set| accepts.
CodePointSet addCaseVariants(const CodePointSet &set);

/// Sets of characters that the steps of normalizers and pre-tokenizers test; `predicate` returns one. The order is that
/// of the first bits of CharacterFlag (runtime/text/TextTables.h).
enum class Predicate { WhiteSpace, Numeric, Punctuation, BertDropped, BertSpace, BertChinese, BertMark, Mark, Word, NmtDropped, NmtSpace };
const CodePointSet &predicate(Predicate which);

/// The replacement of each character that a mapping changes; other characters have no entry.
using CharacterMapping = std::map<uint32_t, std::vector<uint32_t>>;
const CharacterMapping &lowercaseMapping();
/// Returns the full canonical decompositions, without those of Hangul syllables, which follow from arithmetic.
const CharacterMapping &canonicalMapping();
/// Returns the full compatibility decompositions that differ from the canonical ones.
const CharacterMapping &compatibleMapping();
/// A pair of characters and its composition.
struct Composition {
  uint32_t first, second, composed;
};
std::vector<Composition> compositions();

/// A value below 256 for each character. An element is a run of consecutive characters with equal values, as first
/// character << 8 | value. The runs are sorted, and each extends to the next. The first run starts at 0.
using CharacterRuns = std::vector<uint32_t>;
CharacterRuns combiningClasses();
/// Returns a number for the script of each character, as the pre-tokenizer UnicodeScripts of `tokenizers` distinguishes
/// scripts. A character with the number 0 belongs to the text before it. Before any other character a text is split if
/// the last number other than 0 was a different one.
CharacterRuns splitScripts();
/// Returns a GraphemeClass (runtime/text/TextTables.h) for each character: its Grapheme_Cluster_Break, with flags for
/// Extended_Pictographic and Indic_Conjunct_Break.
CharacterRuns graphemeClasses();

} // namespace attune::text

#endif // ATTUNE_COMPILER_TEXT_CHARACTERTABLES_H
