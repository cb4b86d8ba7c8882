//===- Regex.h - Regular expressions of tokenizers ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Regular expressions in the syntax of Oniguruma, the engine of the package `tokenizers`: `^` and `$` are anchors of
// lines, `{n,m}+` is a repeat of `{n,m}` and not possessive, `\h` is a hexadecimal digit, sets nest and intersect by
// `&&`. Features that the automata here do not express are refused, among them back-references, look-around at more
// than one character, possessive repeats of anything but one character class, and atomic groups of anything but a fixed
// sequence of character classes or a greedy repeat of one class without an upper bound.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_REGEX_H
#define ATTUNE_COMPILER_TEXT_REGEX_H

#include "compiler/Support/Status.h"
#include "compiler/Text/CodePointSet.h"

#include <memory>
#include <string>
#include <vector>

namespace attune::text {

/// A node of a parsed regular expression.
struct RegexNode {
  enum Kind {
    Empty,
    Set,       ///< one character of |set|
    Concat,    ///< |children| one after the other
    Alternate, ///< the first of |children| that lets the rest match
    Repeat,    ///< children[0], |min| to |max| times (max < 0: any number), as often as possible if |greedy|
    Ahead,     ///< the next character is in |set|, or |atEdge| is set and this is the end of the text
    Behind,    ///< the previous character is in |set|, or |atEdge| is set and this is the beginning of the text
  };
  Kind kind = Empty;
  CodePointSet set;
  bool atEdge = false;
  std::vector<std::unique_ptr<RegexNode>> children;
  int min = 0, max = 0;
  bool greedy = true;
};

/// Parses |pattern|, which is UTF-8. Fails for a feature that is not supported; the error names it and its place.
Result<std::unique_ptr<RegexNode>> parseRegex(const std::string &pattern);

/// Compiles |pattern| to the bytes of an automaton (AutomatonHeader and its tables). Fails if parseRegex does or the
/// automaton is too large.
Result<std::string> compileRegex(const std::string &pattern);

} // namespace attune::text

#endif // ATTUNE_COMPILER_TEXT_REGEX_H
