//===- CodePointSet.h - Sets of Unicode code points -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_CODEPOINTSET_H
#define ATTUNE_COMPILER_TEXT_CODEPOINTSET_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace attune::text {

/// One more than the last code point.
constexpr uint32_t kCodePoints = 0x110000;

/// A set of code points, as the sorted positions at which membership changes: the positions a, b, c, d are the set of
/// [a, b) and [c, d).
class CodePointSet {
public:
  CodePointSet() = default;
  /// Returns [first, last], both included.
  static CodePointSet range(uint32_t first, uint32_t last) {
    CodePointSet set;
    set.edges = {first, last + 1};
    return set;
  }
  static CodePointSet single(uint32_t character) { return range(character, character); }
  static CodePointSet all() { return range(0, kCodePoints - 1); }
  /// Returns the set with these sorted positions. With an odd number of positions, the last run ends with the last code
  /// point.
  static CodePointSet fromEdges(std::vector<uint32_t> edges) {
    if (edges.size() % 2)
      edges.push_back(kCodePoints);
    CodePointSet set;
    set.edges = std::move(edges);
    return set;
  }

  bool empty() const { return edges.empty(); }
  bool contains(uint32_t character) const { return (std::upper_bound(edges.begin(), edges.end(), character) - edges.begin()) % 2; }
  const std::vector<uint32_t> &boundaries() const { return edges; }

  CodePointSet operator|(const CodePointSet &other) const {
    return combine(other, [](bool a, bool b) { return a || b; });
  }
  CodePointSet operator&(const CodePointSet &other) const {
    return combine(other, [](bool a, bool b) { return a && b; });
  }
  CodePointSet operator-(const CodePointSet &other) const {
    return combine(other, [](bool a, bool b) { return a && !b; });
  }
  CodePointSet operator~() const { return all() - *this; }
  bool operator==(const CodePointSet &other) const { return edges == other.edges; }
  bool operator<(const CodePointSet &other) const { return edges < other.edges; }

private:
  template <typename Fn>
  CodePointSet combine(const CodePointSet &other, Fn keep) const {
    CodePointSet result;
    size_t i = 0, j = 0;
    bool inside = false;
    while (i < edges.size() || j < other.edges.size()) {
      uint32_t at = i == edges.size() ? other.edges[j] : j == other.edges.size() ? edges[i] : std::min(edges[i], other.edges[j]);
      i += i < edges.size() && edges[i] == at;
      j += j < other.edges.size() && other.edges[j] == at;
      if (keep(i % 2, j % 2) != inside) {
        inside = !inside;
        result.edges.push_back(at);
      }
    }
    return result;
  }

  std::vector<uint32_t> edges;
};

} // namespace attune::text

#endif // ATTUNE_COMPILER_TEXT_CODEPOINTSET_H
