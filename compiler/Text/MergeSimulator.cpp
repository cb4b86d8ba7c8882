//===- MergeSimulator.cpp - Merges of tokens' strings ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Text/MergeSimulator.h"
#include "compiler/Text/Unicode.h"
#include "runtime/text/TextTables.h"

#include <algorithm>

using namespace attune;
using namespace attune::text;

MergeSimulator::MergeSimulator(const Merges &merges) {
  table.reserve(merges.size() * 2);
  for (const auto &[pair, merge] : merges)
    table[key(pair.first, pair.second)] = merge;
}

uint32_t MergeSimulator::run(std::vector<uint32_t> symbols) const {
  while (symbols.size() > 1) {
    size_t best = 0;
    std::pair<uint32_t, uint32_t> least = {kNoId, kNoId};
    for (size_t i = 0; i + 1 < symbols.size(); ++i)
      if (auto place = table.find(key(symbols[i], symbols[i + 1])); place != table.end() && place->second.first < least.first) {
        least = place->second;
        best = i;
      }
    if (least.first == kNoId)
      return kNoId;
    symbols[best] = least.second;
    symbols.erase(symbols.begin() + long(best) + 1);
  }
  return symbols.empty() ? kNoId : symbols[0];
}

void attune::text::keepWholeTokens(const MergeSimulator &simulator, bool bytes, const std::vector<uint32_t> &symbols,
                                   std::vector<std::pair<std::string, uint32_t>> &lookup) {
  // Longer tokens, such as runs of spaces, are rare, and the simulation is quadratic.
  constexpr size_t kMostSymbols = 64;
  std::unordered_map<std::string, uint32_t> characters;
  for (const auto &[text, id] : lookup)
    if (text.size() <= 4)
      characters[text] = id;
  auto isWhole = [&](const std::pair<std::string, uint32_t> &entry) {
    const auto &[text, id] = entry;
    std::vector<uint32_t> parts;
    const uint8_t *begin = reinterpret_cast<const uint8_t *>(text.data()), *end = begin + text.size();
    for (const uint8_t *at = begin; at < end && parts.size() <= kMostSymbols;) {
      const size_t size = bytes ? 1 : decodeCharacter(at, end).bytes;
      auto place = characters.find(std::string(at, at + size));
      const uint32_t part = bytes ? symbols[*at] : place == characters.end() ? kNoId : place->second;
      if (part == kNoId)
        return false;
      parts.push_back(part);
      at += size;
    }
    return parts.size() <= kMostSymbols && simulator.run(std::move(parts)) == id;
  };
  lookup.erase(std::remove_if(lookup.begin(), lookup.end(), [&](const auto &entry) { return !isWhole(entry); }), lookup.end());
}
