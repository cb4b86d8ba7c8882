//===- MergeSimulator.h - Merges of tokens' strings -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_MERGESIMULATOR_H
#define ATTUNE_COMPILER_TEXT_MERGESIMULATOR_H

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace attune::text {

/// Rank and merged id of each pair of ids that has a merge.
using Merges = std::map<std::pair<uint32_t, uint32_t>, std::pair<uint32_t, uint32_t>>;

/// A simulator of BPE merges as the runtime makes them, which finds out whether the string of a token becomes this
/// token.
class MergeSimulator {
public:
  explicit MergeSimulator(const Merges &merges);
  /// Merges |symbols|, which are ids, until no pair of neighbors has a merge. Returns the id that is left, or kNoId if
  /// there is not exactly one.
  uint32_t run(std::vector<uint32_t> symbols) const;

private:
  static uint64_t key(uint32_t left, uint32_t right) { return uint64_t(left) << 32 | right; }
  std::unordered_map<uint64_t, std::pair<uint32_t, uint32_t>> table;
};

/// Removes from |lookup| the strings that merging does not turn into the id of their entry, and those of more than 64
/// symbols. A symbol is a byte if |bytes|, else a character. The ids of bytes are the first 256 elements of |symbols|;
/// those of characters are in |lookup| itself.
void keepWholeTokens(const MergeSimulator &simulator, bool bytes, const std::vector<uint32_t> &symbols,
                     std::vector<std::pair<std::string, uint32_t>> &lookup);

} // namespace attune::text

#endif // ATTUNE_COMPILER_TEXT_MERGESIMULATOR_H
