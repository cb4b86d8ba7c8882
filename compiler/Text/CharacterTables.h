//===- CharacterTables.h - Character classes of the reference -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sets and mappings of code points that agree with the reference library, part by part: generate_tables.py asks it for
// each scalar value and names the sources.
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

/// Returns a number that changes with the reference's version and with the tables; files carry it.
uint64_t referenceId();
/// Returns the version of the reference library that the tables are from.
const char *referenceVersion();

/// Returns the characters that `\p{name}` matches in regular expressions: general categories, scripts and binary
/// properties. Case, spaces, `_` and `-` of the name do not count. Returns nullopt for an unknown name.
std::optional<CodePointSet> findProperty(const std::string &name);
/// Returns the characters that `\w` matches in regular expressions.
const CodePointSet &regexWord();
/// Returns the characters that `[[:punct:]]` matches.
const CodePointSet &regexPunctuation();
/// Returns all characters that a case-insensitive match takes for one of |set|.
CodePointSet addCaseVariants(const CodePointSet &set);

/// The predicates of normalizers and pre-tokenizers.
enum class Predicate { WhiteSpace, Numeric, Punctuation, BertDropped, BertSpace, BertChinese, BertMark, Mark, Word, NmtDropped, NmtSpace };
const CodePointSet &predicate(Predicate which);

/// Maps characters to their replacements. Characters that stay as they are have no entry.
using CharacterMapping = std::map<uint32_t, std::vector<uint32_t>>;
const CharacterMapping &lowercaseMapping();
/// Full canonical decompositions; those of Hangul syllables follow from arithmetic and are left out.
const CharacterMapping &canonicalMapping();
/// Full compatibility decompositions of characters where they differ from the canonical ones.
const CharacterMapping &compatibleMapping();
/// The pairs that compose, sorted, and what they become.
struct Composition {
  uint32_t first, second, composed;
};
std::vector<Composition> compositions();

/// Runs of characters with equal values: start << 8 | value, sorted. They begin at 0.
using CharacterRuns = std::vector<uint32_t>;
CharacterRuns combiningClasses();
/// Scripts as UnicodeScripts numbers them; 0 joins any other.
CharacterRuns splitScripts();
/// Grapheme_Cluster_Break in the order of runtime/text/TextTables.h, with flags for Extended_Pictographic and
/// Indic_Conjunct_Break.
CharacterRuns graphemeClasses();

} // namespace attune::text

#endif // ATTUNE_COMPILER_TEXT_CHARACTERTABLES_H
