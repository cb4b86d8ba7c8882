//===- RegexParser.cpp - Parsing regular expressions ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A recursive-descent parser. Case-insensitive parts become sets with all case variants, `.` and classes become sets,
// and anchors become conditions on the next or the previous character.
//===----------------------------------------------------------------------===//

#include "compiler/Text/CharacterTables.h"
#include "compiler/Text/Regex.h"
#include "compiler/Text/Unicode.h"

using namespace attune;
using namespace attune::text;

using Node = std::unique_ptr<RegexNode>;

namespace {

/// The options (?i), (?m) and (?x) of a group, in this order.
struct Options {
  bool ignoreCase = false, dotAll = false, extended = false;
};

class Parser {
public:
  explicit Parser(const std::string &pattern) : characters(toCodePoints(pattern)) {}

  Result<Node> run() {
    Result<Node> node = parseAlternatives();
    if (node && at < characters.size())
      return error("an unmatched ')'");
    return node;
  }

private:
  static constexpr int kMaxDepth = 200;
  static constexpr int kMaxRepeat = 1000;
  /// The largest number of repeats after one atom, each of which repeats the one before, as in a+*.
  static constexpr int kMaxStacked = 8;

  Status error(const std::string &what) const {
    return Status::error("unsupported regular expression: " + what + " at character " + std::to_string(at + 1));
  }
  bool done() const { return at >= characters.size(); }
  uint32_t peek(size_t ahead = 0) const { return at + ahead < characters.size() ? characters[at + ahead] : 0; }
  bool accept(const char *word) {
    size_t n = 0;
    for (; word[n]; ++n)
      if (at + n >= characters.size() || characters[at + n] != uint32_t(uint8_t(word[n])))
        return false;
    at += n;
    return true;
  }

  static Node make(RegexNode::Kind kind) {
    Node node = std::make_unique<RegexNode>();
    node->kind = kind;
    return node;
  }
  static Node makeSet(CodePointSet set) {
    Node node = make(RegexNode::Set);
    node->set = std::move(set);
    return node;
  }
  static Node makeCondition(RegexNode::Kind kind, CodePointSet set, bool atEdge) {
    Node node = make(kind);
    node->set = std::move(set);
    node->atEdge = atEdge;
    return node;
  }
  /// Returns the alternative of |first| and |second|; a match prefers |first|.
  static Node makeEither(Node first, Node second) {
    Node node = make(RegexNode::Alternate);
    node->children.push_back(std::move(first));
    node->children.push_back(std::move(second));
    return node;
  }
  static Node makeBoth(Node first, Node second) {
    Node node = make(RegexNode::Concat);
    node->children.push_back(std::move(first));
    node->children.push_back(std::move(second));
    return node;
  }

  Result<Node> parseAlternatives();
  Result<Node> parseSequence();
  Result<Node> parseRepeats(Node atom);
  Result<Node> parseAtom();
  Result<Node> parseGroup();
  Result<Node> parseLook(bool ahead, bool negated);
  Result<Node> parseEscape();
  Result<CodePointSet> parseClassEscape();
  Result<CodePointSet> parseProperty(bool negated);
  Result<CodePointSet> parseBracket(bool isOutermost);
  Result<CodePointSet> parseBracketUnion();
  Result<uint32_t> parseCharacterEscape();
  Result<uint32_t> parseHex(size_t most, bool braces);
  Result<Node> makeLiteral(uint32_t character);
  CodePointSet foldSet(const CodePointSet &set) const;
  bool parseBounds(int &min, int &max);

  std::vector<uint32_t> characters;
  size_t at = 0;
  int depth = 0;
  Options options;
  /// The literal before the current atom, for foldTogether; 0 if there is none or its case matters.
  uint32_t lastLiteral = 0;
};

} // namespace

Result<Node> Parser::parseAlternatives() {
  if (++depth > kMaxDepth)
    return error("groups nested deeper than " + std::to_string(kMaxDepth));
  Options outer = options;
  Result<Node> first = parseSequence();
  if (!first)
    return first;
  if (peek() == '|' && !done()) {
    Node node = make(RegexNode::Alternate);
    node->children.push_back(std::move(*first));
    while (!done() && peek() == '|') {
      ++at;
      Result<Node> next = parseSequence();
      if (!next)
        return next;
      node->children.push_back(std::move(*next));
    }
    first = std::move(node);
  }
  options = outer;
  --depth;
  return first;
}

Result<Node> Parser::parseSequence() {
  Node node = make(RegexNode::Concat);
  lastLiteral = 0;
  while (!done() && peek() != '|' && peek() != ')') {
    if (options.extended && (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r')) {
      ++at;
      continue;
    }
    if (options.extended && peek() == '#') {
      while (!done() && peek() != '\n')
        ++at;
      continue;
    }
    Result<Node> atom = parseAtom();
    if (!atom)
      return atom;
    if (!*atom)
      continue; // a comment
    Result<Node> repeated = parseRepeats(std::move(*atom));
    if (!repeated)
      return repeated;
    node->children.push_back(std::move(*repeated));
  }
  return node;
}

/// Parses {n}, {n,}, {,m} or {n,m} and sets |max| to -1 for {n,}. If there are no bounds, returns false and leaves |at|
/// unchanged: the brace is then a literal.
bool Parser::parseBounds(int &min, int &max) {
  size_t place = at + 1;
  auto number = [&](int &value) {
    size_t begin = place;
    value = 0;
    while (place < characters.size() && characters[place] >= '0' && characters[place] <= '9')
      value = std::min(value * 10 + int(characters[place++] - '0'), kMaxRepeat + 1);
    return place > begin;
  };
  bool hasMin = number(min), hasMax = false;
  if (place < characters.size() && characters[place] == ',') {
    ++place;
    hasMax = number(max);
    if (!hasMax)
      max = -1;
    if (!hasMin)
      min = 0;
  } else {
    max = min;
  }
  if ((!hasMin && !hasMax) || place >= characters.size() || characters[place] != '}')
    return false;
  at = place + 1;
  return true;
}

Result<Node> Parser::parseRepeats(Node atom) {
  for (int stacked = 0; !done(); ++stacked) {
    int min = 0, max = -1;
    bool braces = false;
    uint32_t c = peek();
    if (c == '*' || c == '+' || c == '?') {
      ++at;
      min = c == '+';
      max = c == '?' ? 1 : -1;
    } else if (c == '{') {
      if (!parseBounds(min, max))
        break;
      braces = true;
      if (min > kMaxRepeat || max > kMaxRepeat)
        return error("more than " + std::to_string(kMaxRepeat) + " repeats");
      if (max >= 0 && max < min)
        return error("{n,m} with n above m");
    } else {
      break;
    }
    if (stacked == kMaxStacked)
      return error("more than " + std::to_string(kMaxStacked) + " repeats of one another");
    lastLiteral = 0;
    Node repeat = make(RegexNode::Repeat);
    repeat->min = min;
    repeat->max = max;
    CodePointSet set = atom->set;
    bool isSet = atom->kind == RegexNode::Set;
    repeat->children.push_back(std::move(atom));
    // After {n} the question mark is a repeat of its own: a{2}? is (?:a{2})?.
    if (!done() && peek() == '?' && !(braces && min == max)) {
      ++at;
      repeat->greedy = false;
    } else if (!done() && peek() == '+' && !braces) {
      // A possessive repeat of one class ends at the first other character: X*+ is X*(?!X).
      ++at;
      if (!isSet)
        return error("a possessive repeat of more than one character class");
      Node end = makeCondition(RegexNode::Ahead, ~set, true);
      if (max == 1) {
        Node once = std::move(repeat->children[0]);
        repeat = makeEither(std::move(once), std::move(end));
      } else {
        repeat = makeBoth(std::move(repeat), std::move(end));
      }
    }
    atom = std::move(repeat);
  }
  return atom;
}

CodePointSet Parser::foldSet(const CodePointSet &set) const { return options.ignoreCase ? addCaseVariants(set) : set; }

/// Returns true if a case-insensitive match of |first| followed by |second| also matches one character, as "ss" matches
/// U+DF.
static bool foldTogether(uint32_t first, uint32_t second) {
  auto lower = [](uint32_t c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; };
  first = lower(first);
  second = lower(second);
  static const char *const pairs[] = {"ss", "st", "ff", "fi", "fl"};
  for (const char *pair : pairs)
    if (first == uint32_t(pair[0]) && second == uint32_t(pair[1]))
      return true;
  // A letter and a separate mark or modifier may match one character, too (U+149, U+1F0, U+1E96-1E9A, Greek letters).
  return (first >= 'a' && first <= 'z' && (second == 0x2BE || (second >= 0x300 && second < 0x370))) || (first == 0x2BC && second == 'n') ||
         (first >= 0x370 && first < 0x590 && second >= 0x300 && second < 0x590);
}

Result<Node> Parser::makeLiteral(uint32_t character) {
  if (!options.ignoreCase)
    return makeSet(CodePointSet::single(character));
  if (lastLiteral && foldTogether(lastLiteral, character))
    return error("case-insensitive letters that one other character also matches");
  if (character == 0xDF || character == 0x1E9E || character == 0x149 || character == 0x1F0 || character == 0x390 || character == 0x3B0 ||
      character == 0x130 || character == 0x587 || (character >= 0x1E96 && character <= 0x1E9A) ||
      (character >= 0xFB00 && character <= 0xFB17))
    return error("a case-insensitive character that several others also match");
  lastLiteral = character;
  return makeSet(foldSet(CodePointSet::single(character)));
}

static CodePointSet newline() { return CodePointSet::single('\n'); }

Result<Node> Parser::parseAtom() {
  uint32_t c = peek();
  switch (c) {
  case '(':
    lastLiteral = 0;
    return parseGroup();
  case '[': {
    lastLiteral = 0;
    ++at;
    Result<CodePointSet> set = parseBracket(true);
    if (!set)
      return set.status();
    return makeSet(*set);
  }
  case '.':
    lastLiteral = 0;
    ++at;
    return makeSet(options.dotAll ? CodePointSet::all() : ~newline());
  case '^':
    ++at;
    return makeCondition(RegexNode::Behind, newline(), true);
  case '$':
    ++at;
    return makeCondition(RegexNode::Ahead, newline(), true);
  case '\\':
    return parseEscape();
  case '*':
  case '+':
  case '?':
    return error("a repeat of nothing");
  }
  ++at;
  return makeLiteral(c);
}

Result<Node> Parser::parseGroup() {
  ++at;
  auto close = [&](Result<Node> node) -> Result<Node> {
    if (!node)
      return node;
    if (!accept(")"))
      return error("a group without ')'");
    lastLiteral = 0;
    return node;
  };
  if (!accept("?"))
    return close(parseAlternatives());
  if (accept("#")) {
    while (!done() && peek() != ')')
      ++at;
    if (!accept(")"))
      return error("a comment without ')'");
    return Node();
  }
  if (accept(":"))
    return close(parseAlternatives());
  if (accept("="))
    return close(parseLook(true, false));
  if (accept("!"))
    return close(parseLook(true, true));
  if (accept("<="))
    return close(parseLook(false, false));
  if (accept("<!"))
    return close(parseLook(false, true));
  if (accept(">")) {
    Result<Node> body = parseAlternatives();
    if (!body)
      return body;
    // An atomic group of one character, or of a fixed sequence of them, can match in one way only. An atomic group of
    // X* or X+ is a possessive repeat: X*(?!X).
    const RegexNode *inner = body->get();
    while (inner->kind == RegexNode::Concat && inner->children.size() == 1)
      inner = inner->children[0].get();
    bool fixed = inner->kind == RegexNode::Set;
    if (inner->kind == RegexNode::Concat)
      fixed = std::all_of(inner->children.begin(), inner->children.end(), [](const Node &child) { return child->kind == RegexNode::Set; });
    if (inner->kind == RegexNode::Repeat && inner->greedy && inner->max < 0 && inner->children[0]->kind == RegexNode::Set) {
      Node end = makeCondition(RegexNode::Ahead, ~inner->children[0]->set, true);
      return close(makeBoth(std::move(*body), std::move(end)));
    }
    if (!fixed)
      return error("an atomic group of more than one character class");
    return close(std::move(body));
  }
  if (peek() == '<' || peek() == 'P' || peek() == '\'') {
    // Ignores the name of a group, since there are no back-references.
    uint32_t closing = peek() == '\'' ? '\'' : '>';
    while (!done() && peek() != closing)
      ++at;
    if (done())
      return error("the name of a group without its end");
    ++at;
    return close(parseAlternatives());
  }
  Options changed = options;
  bool on = true;
  for (; !done() && peek() != ':' && peek() != ')'; ++at) {
    uint32_t c = peek();
    if (c == '-')
      on = false;
    else if (c == 'i')
      changed.ignoreCase = on;
    else if (c == 'm')
      changed.dotAll = on;
    else if (c == 'x')
      changed.extended = on;
    else
      return error("a group of an unknown kind");
  }
  if (accept(")")) {
    // The options hold to the end of the enclosing group, alternatives included.
    options = changed;
    Result<Node> rest = parseAlternatives();
    return rest;
  }
  if (!accept(":"))
    return error("a group without ')'");
  Options outer = options;
  options = changed;
  Result<Node> body = parseAlternatives();
  options = outer;
  return close(std::move(body));
}

/// Collects the body |node| of a look-ahead (|ahead|) or look-behind: adds the characters that |node| accepts to |set|,
/// and sets |atEdge| if |node| accepts the end of the text, or, in a look-behind, the beginning. Returns false if the
/// next or previous character does not decide, as for a sequence of characters, an empty body or a condition in the
/// other direction.
static bool collectOne(const RegexNode &node, bool ahead, CodePointSet &set, bool &atEdge) {
  switch (node.kind) {
  case RegexNode::Set:
    set = set | node.set;
    return true;
  case RegexNode::Alternate:
    for (const Node &child : node.children)
      if (!collectOne(*child, ahead, set, atEdge))
        return false;
    return true;
  case RegexNode::Concat:
    return node.children.size() == 1 && collectOne(*node.children[0], ahead, set, atEdge);
  case RegexNode::Repeat:
    // (?=X+) accepts the same positions as (?=X).
    return node.min == 1 && collectOne(*node.children[0], ahead, set, atEdge);
  case RegexNode::Ahead:
  case RegexNode::Behind:
    if ((node.kind == RegexNode::Ahead) != ahead)
      return false;
    set = set | node.set;
    atEdge |= node.atEdge;
    return true;
  case RegexNode::Empty:
    return false;
  }
  return false;
}

Result<Node> Parser::parseLook(bool ahead, bool negated) {
  Result<Node> body = parseAlternatives();
  if (!body)
    return body;
  CodePointSet set;
  bool atEdge = false;
  if (!collectOne(**body, ahead, set, atEdge))
    return error(std::string("look-") + (ahead ? "ahead" : "behind") + " at more than one character");
  return makeCondition(ahead ? RegexNode::Ahead : RegexNode::Behind, negated ? ~set : set, negated != atEdge);
}

Result<uint32_t> Parser::parseHex(size_t most, bool braces) {
  uint32_t value = 0;
  size_t digits = 0;
  for (; digits < most && !done(); ++digits, ++at) {
    uint32_t c = peek() | 32;
    if (peek() >= '0' && peek() <= '9')
      value = value * 16 + (peek() - '0');
    else if (c >= 'a' && c <= 'f')
      value = value * 16 + (c - 'a' + 10);
    else
      break;
  }
  if (digits == 0 || value >= kCodePoints || (braces && !accept("}")))
    return error("a wrong number of a character");
  return value;
}

/// Parses the escape of one character; |at| is after the backslash.
Result<uint32_t> Parser::parseCharacterEscape() {
  uint32_t c = peek();
  ++at;
  switch (c) {
  case 't':
    return uint32_t('\t');
  case 'n':
    return uint32_t('\n');
  case 'r':
    return uint32_t('\r');
  case 'f':
    return uint32_t('\f');
  case 'v':
    return uint32_t('\v');
  case 'a':
    return uint32_t(7);
  case 'e':
    return uint32_t(27);
  case 'x':
    if (accept("{"))
      return parseHex(8, true);
    return parseHex(2, false);
  case 'u':
    return parseHex(4, false);
  case '0': {
    // Up to two more octal digits.
    uint32_t value = 0;
    for (int digits = 0; digits < 2 && peek() >= '0' && peek() <= '7'; ++digits, ++at)
      value = value * 8 + (peek() - '0');
    return value;
  }
  }
  if ((c >= '1' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
    --at;
    if ((c >= '1' && c <= '9') || c == 'k' || c == 'g')
      return error("a back-reference");
    return error(std::string("the escape \\") + char(c));
  }
  return c;
}

Result<CodePointSet> Parser::parseProperty(bool negated) {
  if (!accept("{"))
    return error("\\p without braces");
  bool caret = accept("^");
  std::string name;
  while (!done() && peek() != '}')
    name += char(peek() < 128 ? peek() : '?'), ++at;
  if (!accept("}"))
    return error("a property without '}'");
  std::optional<CodePointSet> set = findProperty(name);
  if (!set)
    return error("the unknown property '" + name + "'");
  return negated != caret ? ~*set : *set;
}

/// Parses the escape of a class, such as \s, after the backslash. For another escape returns an empty set and leaves
/// |at| unchanged.
Result<CodePointSet> Parser::parseClassEscape() {
  uint32_t c = peek();
  auto either = [&](const CodePointSet &set, bool negated) {
    ++at;
    return negated ? ~set : set;
  };
  switch (c) {
  case 's':
  case 'S':
    return either(predicate(Predicate::WhiteSpace), c == 'S');
  case 'd':
  case 'D':
    return either(*findProperty("Nd"), c == 'D');
  case 'w':
  case 'W':
    return either(regexWord(), c == 'W');
  case 'h':
  case 'H':
    return either(CodePointSet::range('0', '9') | CodePointSet::range('a', 'f') | CodePointSet::range('A', 'F'), c == 'H');
  case 'p':
  case 'P':
    ++at;
    return parseProperty(c == 'P');
  }
  return CodePointSet();
}

Result<Node> Parser::parseEscape() {
  ++at;
  size_t before = at;
  Result<CodePointSet> set = parseClassEscape();
  if (!set)
    return set.status();
  if (at != before) {
    lastLiteral = 0;
    return makeSet(*set);
  }
  uint32_t c = peek();
  const CodePointSet &word = regexWord();
  switch (c) {
  case 'A':
    ++at;
    return makeCondition(RegexNode::Behind, CodePointSet(), true);
  case 'z':
    ++at;
    return makeCondition(RegexNode::Ahead, CodePointSet(), true);
  case 'b':
    ++at;
    return makeEither(makeBoth(makeCondition(RegexNode::Behind, word, false), makeCondition(RegexNode::Ahead, ~word, true)),
                      makeBoth(makeCondition(RegexNode::Behind, ~word, true), makeCondition(RegexNode::Ahead, word, false)));
  case 'B':
    ++at;
    return makeEither(makeBoth(makeCondition(RegexNode::Behind, word, false), makeCondition(RegexNode::Ahead, word, false)),
                      makeBoth(makeCondition(RegexNode::Behind, ~word, true), makeCondition(RegexNode::Ahead, ~word, true)));
  case 'R': {
    ++at;
    Node pair = makeBoth(makeSet(CodePointSet::single('\r')), makeSet(newline()));
    return makeEither(std::move(pair),
                      makeSet(CodePointSet::range(10, 13) | CodePointSet::single(0x85) | CodePointSet::range(0x2028, 0x2029)));
  }
  }
  if (done())
    return error("a backslash at the end");
  Result<uint32_t> character = parseCharacterEscape();
  if (!character)
    return character.status();
  return makeLiteral(*character);
}

/// Parses a set after its '[', up to and including ']'. In the outermost brackets, adds the case variants to the set
/// before '^' complements the set: (?i)[^a] matches neither a nor A.
Result<CodePointSet> Parser::parseBracket(bool isOutermost) {
  bool negated = accept("^");
  Result<CodePointSet> set = parseBracketUnion();
  while (set && accept("&&")) {
    Result<CodePointSet> other = parseBracketUnion();
    if (!other)
      return other;
    set = *set & *other;
  }
  if (!set)
    return set;
  if (!accept("]"))
    return error("a set without ']'");
  if (isOutermost)
    set = foldSet(*set);
  return negated ? ~*set : *set;
}

/// Returns the set of the class [:name:], or nullopt if the name is unknown.
static std::optional<CodePointSet> findBracketClass(const std::string &name) {
  if (name == "punct")
    return regexPunctuation();
  if (name == "word")
    return regexWord();
  if (name == "space")
    return predicate(Predicate::WhiteSpace);
  if (name == "digit")
    return findProperty("Nd");
  if (name == "blank")
    return CodePointSet::single('\t') | *findProperty("Zs");
  if (name == "cntrl")
    return findProperty("Cc");
  if (name == "xdigit")
    return CodePointSet::range('0', '9') | CodePointSet::range('a', 'f') | CodePointSet::range('A', 'F');
  if (name == "ascii")
    return CodePointSet::range(0, 127);
  for (const char *known : {"alpha", "upper", "lower", "alnum", "graph", "print"})
    if (name == known)
      return findProperty(name);
  return std::nullopt;
}

Result<CodePointSet> Parser::parseBracketUnion() {
  CodePointSet set;
  bool first = true;
  if (++depth > kMaxDepth)
    return error("sets nested deeper than " + std::to_string(kMaxDepth));
  while (!done()) {
    uint32_t c = peek();
    if ((c == ']' && !first) || (c == '&' && peek(1) == '&'))
      break;
    if (c == ']' && first && at + 1 >= characters.size())
      break;
    first = false;
    if (c == '[' && peek(1) == ':') {
      at += 2;
      bool negated = accept("^");
      std::string name;
      while (!done() && peek() != ':' && peek() != ']')
        name += char(peek() < 128 ? peek() : '?'), ++at;
      std::optional<CodePointSet> named = findBracketClass(name);
      if (!accept(":]") || !named)
        return error("the unknown class [:" + name + ":]");
      set = set | (negated ? ~*named : *named);
      continue;
    }
    if (c == '[') {
      ++at;
      Result<CodePointSet> nested = parseBracket(false);
      if (!nested)
        return nested;
      set = set | *nested;
      continue;
    }
    uint32_t low = c;
    ++at;
    if (c == '\\') {
      size_t before = at;
      Result<CodePointSet> known = parseClassEscape();
      if (!known)
        return known;
      if (at != before) {
        set = set | *known;
        continue;
      }
      if (peek() == 'b') {
        ++at;
        low = 8;
      } else {
        Result<uint32_t> escaped = parseCharacterEscape();
        if (!escaped)
          return escaped.status();
        low = *escaped;
      }
    }
    uint32_t high = low;
    if (peek() == '-' && peek(1) != ']' && at + 1 < characters.size() &&
        !(peek(1) == '\\' && (peek(2) == 'p' || peek(2) == 's' || peek(2) == 'w' || peek(2) == 'd'))) {
      ++at;
      high = peek();
      ++at;
      if (high == '\\') {
        Result<uint32_t> escaped = parseCharacterEscape();
        if (!escaped)
          return escaped.status();
        high = *escaped;
      } else if (high == '[') {
        return error("a range that ends with a set");
      }
      if (high < low)
        return error("a range that ends before it begins");
    }
    set = set | CodePointSet::range(low, high);
  }
  --depth;
  return set;
}

Result<Node> attune::text::parseRegex(const std::string &pattern) { return Parser(pattern).run(); }
