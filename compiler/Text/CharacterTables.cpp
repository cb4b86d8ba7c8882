//===- CharacterTables.cpp - Character classes of tokenizers --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Text/CharacterTables.h"
#include "runtime/text/TextTables.h"

#include <array>
#include <iterator>

namespace {
#include "compiler/Text/CharacterTables.inc"
} // namespace

using namespace attune::text;

uint64_t attune::text::referenceId() { return kTablesHash; }
const char *attune::text::referenceVersion() { return kReferenceVersion; }

template <size_t N>
static CodePointSet makeSet(const uint32_t (&edges)[N]) {
  return CodePointSet::fromEdges(std::vector<uint32_t>(edges, edges + N));
}

/// Returns the characters of those runs whose value |wanted| accepts. A run is its first character << |bits| | value,
/// and extends to the next run.
template <size_t N, typename Fn>
static CodePointSet collectRuns(const uint32_t (&runs)[N], unsigned bits, Fn wanted) {
  std::vector<uint32_t> edges;
  bool inside = false;
  for (uint32_t run : runs)
    if (wanted(run & ((1u << bits) - 1)) != inside) {
      inside = !inside;
      edges.push_back(run >> bits);
    }
  return CodePointSet::fromEdges(std::move(edges));
}

/// Returns |name| in lower case, without the characters that names of properties ignore.
static std::string simplify(const std::string &name) {
  std::string result;
  for (char c : name)
    if (c != ' ' && c != '_' && c != '-')
      result += c >= 'A' && c <= 'Z' ? char(c + 32) : c;
  return result;
}

/// Returns the characters of the general category |name|, a simplified name, or nullopt if there is no such category.
/// Texts have no surrogates, so Cs is empty.
static std::optional<CodePointSet> findCategory(const std::string &name) {
  static const std::pair<const char *, const char *> longNames[] = {{"letter", "l"},
                                                                    {"lowercaseletter", "ll"},
                                                                    {"uppercaseletter", "lu"},
                                                                    {"titlecaseletter", "lt"},
                                                                    {"modifierletter", "lm"},
                                                                    {"otherletter", "lo"},
                                                                    {"mark", "m"},
                                                                    {"combiningmark", "m"},
                                                                    {"nonspacingmark", "mn"},
                                                                    {"spacingmark", "mc"},
                                                                    {"enclosingmark", "me"},
                                                                    {"number", "n"},
                                                                    {"decimalnumber", "nd"},
                                                                    {"letternumber", "nl"},
                                                                    {"othernumber", "no"},
                                                                    {"punctuation", "p"},
                                                                    {"connectorpunctuation", "pc"},
                                                                    {"dashpunctuation", "pd"},
                                                                    {"openpunctuation", "ps"},
                                                                    {"closepunctuation", "pe"},
                                                                    {"initialpunctuation", "pi"},
                                                                    {"finalpunctuation", "pf"},
                                                                    {"otherpunctuation", "po"},
                                                                    {"symbol", "s"},
                                                                    {"mathsymbol", "sm"},
                                                                    {"currencysymbol", "sc"},
                                                                    {"modifiersymbol", "sk"},
                                                                    {"othersymbol", "so"},
                                                                    {"separator", "z"},
                                                                    {"spaceseparator", "zs"},
                                                                    {"lineseparator", "zl"},
                                                                    {"paragraphseparator", "zp"},
                                                                    {"other", "c"},
                                                                    {"control", "cc"},
                                                                    {"format", "cf"},
                                                                    {"privateuse", "co"},
                                                                    {"unassigned", "cn"}};
  std::string wanted = name;
  for (auto [longName, shortName] : longNames)
    if (name == longName)
      wanted = shortName;
  auto matches = [&](uint32_t category) {
    std::string have = simplify(kCategoryNames[category]);
    return have == wanted || (wanted.size() == 1 && have[0] == wanted[0]) ||
           (wanted == "lc" && (have == "ll" || have == "lu" || have == "lt"));
  };
  bool known = wanted == "lc";
  for (uint32_t i = 0; i < std::size(kCategoryNames); ++i)
    known |= matches(i);
  if (!known)
    return std::nullopt;
  return collectRuns(kCategoryRuns, 5, matches);
}

std::optional<CodePointSet> attune::text::findProperty(const std::string &given) {
  std::string name = simplify(given);
  if (name == "any")
    return CodePointSet::all();
  if (name == "ascii")
    return CodePointSet::range(0, 127);
  if (name == "assigned")
    return ~*findCategory("cn");
  if (std::optional<CodePointSet> found = findCategory(name))
    return found;
  for (const ScriptName &script : kScriptNames)
    if (name == script.name)
      return collectRuns(kScriptRuns, 8, [&](uint32_t value) { return value == script.number; });
#define ATTUNE_FIND_PROPERTY(known)                                                                                                        \
  if (name == simplify(#known))                                                                                                            \
    return makeSet(kProperty_##known);
  ATTUNE_CHARACTER_PROPERTIES(ATTUNE_FIND_PROPERTY)
  static const std::pair<const char *, const char *> aliases[] = {
      {"alpha", "Alphabetic"}, {"upper", "Uppercase"}, {"lower", "Lowercase"}, {"space", "White_Space"}, {"ideo", "Ideographic"}};
  for (auto [alias, target] : aliases)
    if (name == alias)
      return findProperty(target);
  return std::nullopt;
}

const CodePointSet &attune::text::regexWord() {
  static const CodePointSet set = makeSet(kProperty_word_class);
  return set;
}

const CodePointSet &attune::text::regexPunctuation() {
  static const CodePointSet set = makeSet(kProperty_bracket_punct);
  return set;
}

CodePointSet attune::text::addCaseVariants(const CodePointSet &set) {
  CodePointSet result = set;
  for (size_t i = 0; i < std::size(kCaseGroups); i += kCaseGroups[i] + 1) {
    const uint32_t *begin = kCaseGroups + i + 1, *end = begin + kCaseGroups[i];
    if (std::any_of(begin, end, [&](uint32_t c) { return set.contains(c); }))
      for (const uint32_t *variant = begin; variant < end; ++variant)
        if (!set.contains(*variant))
          result = result | CodePointSet::single(*variant);
  }
  return result;
}

const CodePointSet &attune::text::predicate(Predicate which) {
  // In the order of Predicate.
  static const CodePointSet sets[] = {makeSet(kWhiteSpace), makeSet(kNumeric),        makeSet(kPunctuation), makeSet(kBertDropped),
                                      makeSet(kBertSpace),  makeSet(kBertIdeographs), makeSet(kBertMarks),   makeSet(kMarks),
                                      makeSet(kWord),       makeSet(kNmtDropped),     makeSet(kNmtSpace)};
  return sets[static_cast<size_t>(which)];
}

template <size_t N>
static CharacterMapping makeMapping(const uint32_t (&table)[N]) {
  CharacterMapping mapping;
  for (size_t i = 0; i + 1 < N; i += 2 + table[i + 1])
    mapping[table[i]].assign(table + i + 2, table + i + 2 + table[i + 1]);
  return mapping;
}

const CharacterMapping &attune::text::lowercaseMapping() {
  static const CharacterMapping mapping = makeMapping(kLowercase);
  return mapping;
}

const CharacterMapping &attune::text::canonicalMapping() {
  static const CharacterMapping mapping = makeMapping(kCanonical);
  return mapping;
}

const CharacterMapping &attune::text::compatibleMapping() {
  static const CharacterMapping mapping = makeMapping(kCompatible);
  return mapping;
}

std::vector<Composition> attune::text::compositions() {
  std::vector<Composition> pairs;
  for (size_t i = 0; i < std::size(kCompositions); i += 3)
    pairs.push_back({kCompositions[i], kCompositions[i + 1], kCompositions[i + 2]});
  std::sort(pairs.begin(), pairs.end(),
            [](const Composition &a, const Composition &b) { return std::pair(a.first, a.second) < std::pair(b.first, b.second); });
  return pairs;
}

CharacterRuns attune::text::combiningClasses() { return {std::begin(kCombiningRuns), std::end(kCombiningRuns)}; }
CharacterRuns attune::text::splitScripts() { return {std::begin(kSplitScriptRuns), std::end(kSplitScriptRuns)}; }

CharacterRuns attune::text::graphemeClasses() {
  const CodePointSet pictographic = makeSet(kPictographic), linker = makeSet(kConjunctLinker), consonant = makeSet(kConjunctConsonant),
                     extend = makeSet(kConjunctExtend);
  CharacterRuns runs;
  size_t place = 0;
  for (uint32_t c = 0; c < kCodePoints; ++c) {
    while (place + 1 < std::size(kGraphemeRuns) && kGraphemeRuns[place + 1] >> 4 <= c)
      ++place;
    uint32_t value = (kGraphemeRuns[place] & kGraphemeMask) | (pictographic.contains(c) ? kGraphemePictographic : 0) |
                     (linker.contains(c) ? kGraphemeLinker : 0) | (consonant.contains(c) ? kGraphemeConsonant : 0) |
                     (extend.contains(c) ? kGraphemeConjunctExtend : 0);
    if (runs.empty() || (runs.back() & 255) != value)
      runs.push_back(c << 8 | value);
  }
  return runs;
}
