//===- TrieBuilder.cpp - Building double-array tries ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The child of a node by a byte is the unit base ^ byte, so a base fits if these units are free for all children. Units
// are allocated in blocks of 256; since the byte changes only the low 8 bits of the base, the children of a node are in
// one block. findBase tries one free unit after the other for the first child. So a single child takes the first free
// unit, which keeps the table dense. After more than kMostFailures failures in a block, the free units of the block are
// not tried again. If no unit fits, the children get a new block.
//===----------------------------------------------------------------------===//

#include "compiler/Text/TrieBuilder.h"

using namespace attune::text;

namespace {

class TrieLayout {
public:
  explicit TrieLayout(const std::map<std::string, uint32_t> &strings) {
    for (const auto &entry : strings)
      keys.push_back({&entry.first, entry.second});
    addBlock();
    take(0, kNoId);
  }

  std::vector<TrieUnit> run() {
    // Depth first, without recursion: a string may have megabytes.
    if (!keys.empty())
      pending.push_back({0, keys.size(), 0, 0});
    while (!pending.empty()) {
      Node node = pending.back();
      pending.pop_back();
      place(node);
    }
    size_t size = 256;
    while (size < units.size())
      size *= 2;
    units.resize(size, {0, kNoId, kNoId});
    return std::move(units);
  }

private:
  struct Key {
    const std::string *text;
    uint32_t value;
  };
  /// A unit, and the keys [begin, end) below it, which agree in their first |depth| bytes.
  struct Node {
    size_t begin, end, depth;
    uint32_t unit;
  };
  static constexpr uint32_t kEnd = 0xFFFFFFFFu;
  static constexpr int kMostFailures = 24;

  void addBlock() {
    uint32_t first = uint32_t(units.size());
    for (uint32_t i = 0; i < 256; ++i) {
      units.push_back({0, kNoId, kNoId});
      used.push_back(false);
      previous.push_back(i ? first + i - 1 : lastFree);
      following.push_back(i < 255 ? first + i + 1 : kEnd);
    }
    if (lastFree != kEnd)
      following[lastFree] = first;
    else
      firstFree = first;
    lastFree = first + 255;
    failures.push_back(0);
  }
  void take(uint32_t unit, uint32_t parent) {
    used[unit] = true;
    units[unit].check = parent;
    unlink(unit);
  }
  void unlink(uint32_t unit) {
    if (linkedOut(unit))
      return;
    (previous[unit] == kEnd ? firstFree : following[previous[unit]]) = following[unit];
    (following[unit] == kEnd ? lastFree : previous[following[unit]]) = previous[unit];
    previous[unit] = unit; // no longer in the list
  }
  bool linkedOut(uint32_t unit) const { return previous[unit] == unit; }

  uint32_t findBase(const std::vector<uint8_t> &bytes) {
    for (uint32_t free = firstFree; free != kEnd;) {
      uint32_t next = following[free];
      uint32_t base = free ^ bytes[0];
      bool fits = true;
      for (uint8_t byte : bytes)
        fits &= !used[base ^ byte];
      if (fits)
        return base;
      uint32_t block = free / 256;
      if (++failures[block] > kMostFailures) {
        // Removes the rest of the block from the list of free units.
        for (uint32_t unit = block * 256; unit < block * 256 + 256; ++unit)
          if (!used[unit])
            unlink(unit);
        next = firstFree;
        while (next != kEnd && next / 256 < block)
          next = following[next];
      }
      free = next;
    }
    uint32_t base = uint32_t(units.size());
    addBlock();
    return base;
  }

  /// Sets the value of |node| if a key ends there, places its children, and adds them to |pending|.
  void place(Node node) {
    auto [begin, end, depth, unit] = node;
    if (keys[begin].text->size() == depth)
      units[unit].value = keys[begin++].value;
    if (begin == end)
      return; // a leaf: no unit has it for a parent, whatever its base
    std::vector<uint8_t> bytes;
    std::vector<size_t> starts;
    for (size_t i = begin; i < end; ++i) {
      uint8_t byte = uint8_t((*keys[i].text)[depth]);
      if (bytes.empty() || bytes.back() != byte) {
        bytes.push_back(byte);
        starts.push_back(i);
      }
    }
    starts.push_back(end);
    uint32_t base = findBase(bytes);
    units[unit].base = base;
    for (uint8_t byte : bytes)
      take(base ^ byte, unit);
    for (size_t i = bytes.size(); i-- > 0;)
      pending.push_back({starts[i], starts[i + 1], depth + 1, base ^ bytes[i]});
  }

  std::vector<Key> keys;
  std::vector<Node> pending;
  std::vector<TrieUnit> units;
  std::vector<bool> used;
  std::vector<uint32_t> previous, following;
  std::vector<int> failures;
  uint32_t firstFree = kEnd, lastFree = kEnd;
};

} // namespace

std::vector<TrieUnit> attune::text::buildTrie(const std::map<std::string, uint32_t> &strings) { return TrieLayout(strings).run(); }
