//===- RegexCompiler.cpp - From regular expressions to automata -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pre-tokenizer wants the match that a backtracking engine finds: the first alternative that matches, not the
// longest. This file makes a deterministic automaton that finds the same match in one pass.
//
// The expression becomes a nondeterministic automaton whose branches are ordered: the preferred one first. A state of
// the deterministic automaton is the ordered list of the threads that a backtracking engine would try, without
// duplicates:
//
//     pattern  ab|a[bc]*        text  a b c
//
//     start     { a₁ , a₂ }                     a₁ belongs to the first alternative
//     after a   { b₁ , [bc]₂ , MATCH₂ }
//     after b   { MATCH₁ }                      threads after a match are cut: no engine would come to them
//     after c   dead, so the match is "ab", though the second alternative is longer
//
// Conditions on the next character, (?!\S) or $, are threads that wait. When the next character comes, they are
// resolved first and the character is consumed afterwards. So a match is known one character late, and an entry of the
// table is a pair
//
//     table[state][class of the next character] = (accept before this character?, next state)
//
// with a further column for the end of the text. The runner keeps the last position where it accepted. Conditions on
// the previous character are resolved when that character is consumed. At the beginning of a match they depend on the
// character before the match. So a pattern with such conditions has a start state for each class of that character, and
// one for the beginning of the text.
//
// Code points are partitioned into classes that no set of the pattern distinguishes. The table is minimized by refining
// partitions. A pattern that exceeds kMaxThreads, kMaxStates (counted before the minimization), kMaxWork or 255 classes
// is refused.
//===----------------------------------------------------------------------===//

#include "compiler/Text/Regex.h"
#include "runtime/text/TextTables.h"

#include <cstring>
#include <map>
#include <set>

using namespace attune;
using namespace attune::text;

namespace {

constexpr size_t kMaxThreads = 20000;
constexpr size_t kMaxStates = 8192;
/// The largest sum, over all states of the deterministic automaton, of the number of threads of a state times the
/// columns of the table. The limit bounds time and memory.
constexpr size_t kMaxWork = 2000000;

/// A state of the nondeterministic automaton.
struct Thread {
  enum Kind { Consume, Ahead, Behind, Split, Match } kind;
  int set = -1;        ///< Consume, Ahead, Behind: index of the set
  bool atEdge = false; ///< Ahead, Behind
  int next = -1;       ///< index of the thread after this one; of Split the preferred one
  int other = -1;      ///< Split: index of the less preferred thread
};

class AutomatonBuilder {
public:
  Status build(const RegexNode &pattern);
  std::string emit(MaskScheme scheme) const;

private:
  int addThread(Thread thread) {
    threads.push_back(thread);
    return int(threads.size()) - 1;
  }
  int addSet(const CodePointSet &set) {
    auto [place, isNew] = setNumbers.insert({set, int(sets.size())});
    if (isNew)
      sets.push_back(set);
    return place->second;
  }
  /// Adds threads that match |node| and continue at |next|; returns the one at which matching begins, which is |next|
  /// if |node| is empty.
  int addNode(const RegexNode &node, int next);
  int addRepeat(const RegexNode &node, int next);

  Status partition();
  bool inSet(int set, int symbol) const { return members[set][symbol]; }

  /// A state of the deterministic automaton: the threads that consume, wait or match, in order of preference, and the
  /// class of the previous character, or -1 if no waiting thread needs it.
  using State = std::pair<std::vector<int>, int>;
  void addClosure(int thread, int previous, std::vector<int> &list, std::set<int> &seen) const;
  int stateNumber(State state);
  /// Returns the entry of the transition table for |state| and |symbol| (a class, or numClasses for the end of the
  /// text).
  uint32_t step(const State &state, int symbol);
  void minimize();

  std::vector<Thread> threads;
  std::vector<CodePointSet> sets;
  std::map<CodePointSet, int> setNumbers;
  /// For each set and class: true if the set has the characters of the class.
  std::vector<std::vector<bool>> members;
  std::vector<uint8_t> classOf;
  int numClasses = 0;
  bool looksBehind = false, tooManyThreads = false;

  int first = -1;
  std::map<State, int> stateNumbers;
  std::vector<State> states;
  /// [state][symbol]: accept flag in bit 31 and the next state.
  std::vector<std::vector<uint32_t>> table;
  /// The start state after a character of each class, then that at the beginning of the text. Only one element if the
  /// pattern has no Behind.
  std::vector<int> starts;
};

} // namespace

static constexpr uint32_t kAccept = 1u << 31;

int AutomatonBuilder::addRepeat(const RegexNode &node, int next) {
  const RegexNode &body = *node.children[0];
  auto branch = [&](int more, int stop) {
    Thread split{Thread::Split};
    split.next = node.greedy ? more : stop;
    split.other = node.greedy ? stop : more;
    return addThread(split);
  };
  int rest = next;
  if (node.max < 0) {
    int loop = branch(-1, next);
    int begin = addNode(body, loop);
    (node.greedy ? threads[loop].next : threads[loop].other) = begin;
    rest = loop;
  } else {
    for (int i = node.min; i < node.max && !tooManyThreads; ++i)
      rest = branch(addNode(body, rest), next);
  }
  for (int i = 0; i < node.min && !tooManyThreads; ++i) {
    int begin = addNode(body, rest);
    if (begin == rest)
      break; // an empty body, such as a{0}: more copies add nothing
    rest = begin;
  }
  return rest;
}

int AutomatonBuilder::addNode(const RegexNode &node, int next) {
  if (threads.size() > kMaxThreads) {
    tooManyThreads = true;
    return next;
  }
  switch (node.kind) {
  case RegexNode::Empty:
    return next;
  case RegexNode::Set:
  case RegexNode::Ahead:
  case RegexNode::Behind: {
    Thread thread{node.kind == RegexNode::Set ? Thread::Consume : node.kind == RegexNode::Ahead ? Thread::Ahead : Thread::Behind};
    thread.set = addSet(node.set);
    thread.atEdge = node.atEdge;
    thread.next = next;
    looksBehind |= node.kind == RegexNode::Behind;
    return addThread(thread);
  }
  case RegexNode::Concat:
    for (size_t i = node.children.size(); i-- > 0;)
      next = addNode(*node.children[i], next);
    return next;
  case RegexNode::Alternate: {
    int rest = addNode(*node.children.back(), next);
    for (size_t i = node.children.size() - 1; i-- > 0;) {
      Thread split{Thread::Split};
      split.next = addNode(*node.children[i], next);
      split.other = rest;
      rest = addThread(split);
    }
    return rest;
  }
  case RegexNode::Repeat:
    return addRepeat(node, next);
  }
  return next;
}

/// Partitions the code points into classes, each of which is inside or outside of every set.
Status AutomatonBuilder::partition() {
  std::set<uint32_t> edges = {0};
  for (const CodePointSet &set : sets)
    edges.insert(set.boundaries().begin(), set.boundaries().end());
  edges.erase(kCodePoints);
  classOf.assign(kCodePoints, 0);
  std::map<std::vector<bool>, int> numbers;
  std::vector<std::vector<bool>> signatures;
  for (auto edge = edges.begin(); edge != edges.end(); ++edge) {
    std::vector<bool> signature;
    for (const CodePointSet &set : sets)
      signature.push_back(set.contains(*edge));
    auto [place, isNew] = numbers.insert({signature, int(signatures.size())});
    if (isNew)
      signatures.push_back(signature);
    if (signatures.size() > 255)
      return Status::error("unsupported regular expression: more than 255 classes of characters");
    uint32_t end = std::next(edge) == edges.end() ? kCodePoints : *std::next(edge);
    std::memset(classOf.data() + *edge, place->second, end - *edge);
  }
  numClasses = int(signatures.size());
  members.assign(sets.size(), std::vector<bool>(numClasses));
  for (size_t set = 0; set < sets.size(); ++set)
    for (int c = 0; c < numClasses; ++c)
      members[set][c] = signatures[c][set];
  return {};
}

/// Appends to |list|, in order of preference, the threads that |thread| reaches without consuming a character and that
/// consume, wait or match. Skips the threads in |seen| and adds those it visits. |previous| is the class of the
/// previous character, numClasses at the beginning of the text; it is not used if the pattern has no Behind.
void AutomatonBuilder::addClosure(int thread, int previous, std::vector<int> &list, std::set<int> &seen) const {
  std::vector<int> stack = {thread};
  while (!stack.empty()) {
    int at = stack.back();
    stack.pop_back();
    if (!seen.insert(at).second)
      continue;
    const Thread &t = threads[at];
    switch (t.kind) {
    case Thread::Split:
      stack.push_back(t.other);
      stack.push_back(t.next);
      break;
    case Thread::Behind:
      if (previous == numClasses ? t.atEdge : inSet(t.set, previous))
        stack.push_back(t.next);
      break;
    default:
      list.push_back(at);
    }
  }
}

int AutomatonBuilder::stateNumber(State state) {
  if (!looksBehind || std::none_of(state.first.begin(), state.first.end(), [&](int t) { return threads[t].kind == Thread::Ahead; }))
    state.second = -1; // no thread still needs the previous character
  auto [place, isNew] = stateNumbers.insert({state, int(states.size())});
  if (isNew)
    states.push_back(std::move(state));
  return place->second;
}

uint32_t AutomatonBuilder::step(const State &state, int symbol) {
  // Resolve the waiting threads: the threads that they lead to take their place, and some of those may wait, too.
  std::vector<int> resolved;
  std::set<int> seen;
  bool accept = false;
  std::vector<int> stack(state.first.rbegin(), state.first.rend());
  while (!stack.empty() && !accept) {
    int at = stack.back();
    stack.pop_back();
    if (!seen.insert(at).second)
      continue;
    const Thread &t = threads[at];
    if (t.kind == Thread::Match) {
      accept = true;
    } else if (t.kind == Thread::Ahead) {
      if (symbol == numClasses ? t.atEdge : inSet(t.set, symbol)) {
        std::vector<int> list;
        std::set<int> closureSeen;
        addClosure(t.next, state.second, list, closureSeen);
        stack.insert(stack.end(), list.rbegin(), list.rend());
      }
    } else {
      resolved.push_back(at);
    }
  }
  State next;
  next.second = symbol;
  std::set<int> closureSeen;
  if (symbol < numClasses)
    for (int at : resolved)
      if (inSet(threads[at].set, symbol))
        addClosure(threads[at].next, symbol, next.first, closureSeen);
  // Removes the threads after the first match, which waits for no condition: they would never be tried.
  for (size_t i = 0; i < next.first.size(); ++i)
    if (threads[next.first[i]].kind == Thread::Match)
      next.first.resize(i + 1);
  return (accept ? kAccept : 0) | uint32_t(stateNumber(std::move(next)));
}

Status AutomatonBuilder::build(const RegexNode &pattern) {
  int match = addThread({Thread::Match});
  first = addNode(pattern, match);
  if (tooManyThreads)
    return Status::error("unsupported regular expression: its repeats make more than " + std::to_string(kMaxThreads) + " states");
  if (Status status = partition(); status.failed())
    return status;
  stateNumber({{}, -1}); // the dead state is 0
  for (int previous = 0; previous <= numClasses; ++previous) {
    State start;
    start.second = previous;
    std::set<int> seen;
    addClosure(first, previous, start.first, seen);
    starts.push_back(stateNumber(std::move(start)));
    if (!looksBehind)
      break;
  }
  size_t work = 0;
  for (size_t i = 0; i < states.size(); ++i) {
    work += states[i].first.size() * size_t(numClasses + 1);
    if (work > kMaxWork)
      return Status::error("unsupported regular expression: it needs an automaton of more than " + std::to_string(kMaxWork) + " threads");
    if (states.size() > kMaxStates)
      return Status::error("unsupported regular expression: it needs more than " + std::to_string(kMaxStates) + " states");
    std::vector<uint32_t> row;
    for (int symbol = 0; symbol <= numClasses; ++symbol) {
      State state = states[i];
      row.push_back(step(state, symbol));
    }
    table.push_back(std::move(row));
  }
  minimize();
  return {};
}

/// Merges equivalent states. State 0 stays the dead state; the first start state becomes 1, unless it is dead, too.
void AutomatonBuilder::minimize() {
  std::vector<int> group(table.size(), 0);
  size_t count = 1;
  while (true) {
    std::map<std::vector<int64_t>, int> numbers;
    std::vector<int> refined(table.size());
    for (size_t i = 0; i < table.size(); ++i) {
      std::vector<int64_t> key = {group[i]};
      for (uint32_t entry : table[i])
        key.push_back(int64_t(entry & kAccept) << 1 | group[entry & ~kAccept]);
      refined[i] = numbers.insert({key, int(numbers.size())}).first->second;
    }
    bool done = numbers.size() == count;
    count = numbers.size();
    group = std::move(refined);
    if (done)
      break;
  }
  // Renumbers the groups: dead, starts, others.
  std::vector<int> number(count, -1), representative;
  auto place = [&](int state) {
    if (number[group[state]] < 0) {
      number[group[state]] = int(representative.size());
      representative.push_back(state);
    }
  };
  place(0);
  for (int start : starts)
    place(start);
  for (size_t i = 0; i < table.size(); ++i)
    place(int(i));
  std::vector<std::vector<uint32_t>> merged;
  for (int state : representative) {
    std::vector<uint32_t> row;
    for (uint32_t entry : table[state])
      row.push_back((entry & kAccept) | uint32_t(number[group[entry & ~kAccept]]));
    merged.push_back(std::move(row));
  }
  for (int &start : starts)
    start = number[group[start]];
  table = std::move(merged);
}

static uint32_t roundToPowerOfTwo(size_t value) {
  uint32_t result = 1;
  while (result < value)
    result *= 2;
  return result;
}

template <typename T>
static void append(std::string &bytes, const std::vector<T> &values) {
  bytes.append(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T));
}

/// Returns the scheme of bit masks (PieceMasks.h) that splits texts as |pattern| does; None if there is no such scheme.
static MaskScheme findMaskScheme(const std::string &pattern) {
#define CONTRACTIONS "'s|'t|'re|'ve|'m|'ll|'d"
#define PREFIXED(DIGITS)                                                                                                                   \
  "(?i:" CONTRACTIONS ")|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" DIGITS "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
  static const std::pair<const char *, MaskScheme> schemes[] = {
      {CONTRACTIONS "| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+", MaskScheme::Gpt2},
      {PREFIXED("\\p{N}{1,3}"), MaskScheme::PrefixedDigits3},
      {PREFIXED("\\p{N}"), MaskScheme::PrefixedDigits1},
  };
#undef CONTRACTIONS
#undef PREFIXED
  for (const auto &[known, scheme] : schemes)
    if (pattern == known)
      return scheme;
  return MaskScheme::None;
}

std::string AutomatonBuilder::emit(MaskScheme scheme) const {
  std::vector<uint16_t> stage1;
  std::string stage2;
  std::map<std::string, uint16_t> blocks;
  for (uint32_t block = 0; block < kMapStage; ++block) {
    std::string classes(reinterpret_cast<const char *>(classOf.data()) + size_t(block) * kMapBlock, kMapBlock);
    auto [place, isNew] = blocks.insert({classes, uint16_t(blocks.size())});
    if (isNew)
      stage2 += classes;
    stage1.push_back(place->second);
  }
  AutomatonHeader header = {};
  header.numStates = roundToPowerOfTwo(std::max<size_t>(table.size(), 2));
  header.numClasses = uint32_t(numClasses);
  header.stride = roundToPowerOfTwo(size_t(numClasses) + 1);
  header.numBlocks = roundToPowerOfTwo(blocks.size());
  header.startsByClass = looksBehind;
  header.scheme = scheme;
  stage2.resize(size_t(header.numBlocks) * kMapBlock);
  std::vector<uint16_t> startRow(header.stride, uint16_t(starts[0]));
  for (size_t i = 0; i < starts.size(); ++i)
    startRow[i] = uint16_t(starts[i]);
  std::vector<uint16_t> rows(size_t(header.numStates) * header.stride);
  for (size_t state = 0; state < table.size(); ++state)
    for (size_t symbol = 0; symbol < table[state].size(); ++symbol) {
      uint32_t entry = table[state][symbol];
      rows[state * header.stride + symbol] = uint16_t((entry & kAccept ? kAcceptBefore : 0) | (entry & 0x7FFF));
    }
  std::string bytes;
  bytes.append(reinterpret_cast<const char *>(classOf.data()), 128);
  append(bytes, stage1);
  bytes += stage2;
  append(bytes, startRow);
  append(bytes, rows);
  header.bytes = uint32_t(sizeof(header) + bytes.size());
  return std::string(reinterpret_cast<const char *>(&header), sizeof(header)) + bytes;
}

Result<std::string> attune::text::compileRegex(const std::string &pattern) {
  Result<std::unique_ptr<RegexNode>> parsed = parseRegex(pattern);
  if (!parsed)
    return parsed.status();
  AutomatonBuilder builder;
  if (Status status = builder.build(**parsed); status.failed())
    return status;
  return builder.emit(findMaskScheme(pattern));
}
