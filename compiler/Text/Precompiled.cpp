//===- Precompiled.cpp - SentencePiece's character maps -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SentencePiece stores a map as a double-array trie in the format of the library darts-clone. This file lists the
// strings of that trie and builds a trie in the format of TrieUnit. The package `tokenizers` replaces the shortest
// prefix of a text that is a string of the map. So a string never matches if another string is a prefix of it. Such
// strings, 218,000 of the 225,000 of NFKC, are omitted.
//===----------------------------------------------------------------------===//

#include "compiler/Text/Precompiled.h"
#include "compiler/Text/TrieBuilder.h"

#include <cstring>

using namespace attune;
using namespace attune::text;

static Result<std::string> decodeBase64(const std::string &text) {
  std::string bytes;
  uint32_t word = 0, bits = 0;
  for (char c : text) {
    if (c == '=' || c == '\n')
      continue;
    int value = c >= 'A' && c <= 'Z'   ? c - 'A'
                : c >= 'a' && c <= 'z' ? c - 'a' + 26
                : c >= '0' && c <= '9' ? c - '0' + 52
                : c == '+'             ? 62
                : c == '/'             ? 63
                                       : -1;
    if (value < 0)
      return Status::error("expected base64");
    word = word << 6 | uint32_t(value);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes += char(word >> bits);
    }
  }
  return bytes;
}

std::string attune::text::encodeBase64(const std::string &bytes) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  uint32_t word = 0, bits = 0;
  for (char c : bytes) {
    word = (word << 8 | uint8_t(c)) & 0xFFFFFF;
    for (bits += 8; bits >= 6; bits -= 6)
      text += digits[word >> (bits - 6) & 63];
  }
  if (bits > 0)
    text += digits[word << (6 - bits) & 63];
  while (text.size() % 4)
    text += '=';
  return text;
}

namespace {

/// A reader that lists the strings of a trie in the format of the library darts-clone, except those with another string
/// as a prefix.
class DartsReader {
public:
  DartsReader(const std::vector<uint32_t> &units, const std::string &texts, std::map<std::string, uint32_t> &places,
              std::string &replacements)
      : units(units), texts(texts), places(places), replacements(replacements) {}

  /// Adds the strings that begin with |key|. The unit of |key| followed by a byte is units[|node| ^ byte]. Returns
  /// false if the trie is damaged or too large.
  bool visit(uint32_t node, std::string &key) {
    if (key.size() > 64 || ++visited > kMostNodes)
      return false;
    for (uint32_t byte = 1; byte < 256; ++byte) {
      uint32_t child = node ^ byte;
      if (child >= units.size() || (units[child] & (1u << 31 | 0xFF)) != byte)
        continue;
      uint32_t offset = (units[child] >> 10) << ((units[child] & (1u << 9)) >> 6);
      uint32_t below = child ^ offset;
      key += char(byte);
      if (units[child] >> 8 & 1) {
        if (below >= units.size() || !add(key, units[below] & 0x7FFFFFFF))
          return false;
      } else if (!visit(below, key)) {
        return false;
      }
      key.pop_back();
    }
    return true;
  }

private:
  /// A map with more visits of nodes is refused. Strings with equal ends may share nodes, so a few units may stand for
  /// many strings.
  static constexpr size_t kMostNodes = size_t(1) << 21;
  /// A map with more bytes of replacements is refused; many strings may share a long one.
  static constexpr size_t kMostBytes = size_t(64) << 20;

  bool add(const std::string &key, uint32_t place) {
    if (place > texts.size() || replacements.size() > kMostBytes)
      return false;
    std::string text = texts.c_str() + place;
    uint32_t size = uint32_t(text.size());
    places[key] = uint32_t(replacements.size());
    replacements.append(reinterpret_cast<const char *>(&size), 4);
    replacements += text;
    return true;
  }

  const std::vector<uint32_t> &units;
  const std::string &texts;
  std::map<std::string, uint32_t> &places;
  std::string &replacements;
  size_t visited = 0;
};

} // namespace

Result<size_t> attune::text::measurePrecompiledTrie(const std::string &bytes) {
  uint32_t trieBytes = 0;
  if (bytes.size() >= 4)
    std::memcpy(&trieBytes, bytes.data(), 4);
  if (bytes.size() < 8 || trieBytes % 4 || trieBytes == 0 || trieBytes > bytes.size() - 4)
    return Status::error("expected a size, a trie and strings, got " + std::to_string(bytes.size()) + " bytes");
  return size_t(trieBytes);
}

Result<PrecompiledMap> attune::text::parsePrecompiledBytes(const std::string &bytes) {
  PrecompiledMap map;
  if (bytes.empty())
    return map;
  Result<size_t> measured = measurePrecompiledTrie(bytes);
  if (!measured)
    return measured.status();
  const size_t trieBytes = *measured;
  std::vector<uint32_t> units(trieBytes / 4);
  std::memcpy(units.data(), bytes.data() + 4, trieBytes);
  std::string texts = bytes.substr(4 + trieBytes), key;
  std::map<std::string, uint32_t> places;
  uint32_t root = (units[0] >> 10) << ((units[0] & (1u << 9)) >> 6);
  if (!DartsReader(units, texts, places, map.replacements).visit(root, key))
    return Status::error("the trie of the map is damaged");
  map.units = buildTrie(places);
  return map;
}

Result<PrecompiledMap> attune::text::parsePrecompiled(const std::string &base64) {
  Result<std::string> bytes = decodeBase64(base64);
  return bytes ? parsePrecompiledBytes(*bytes) : Result<PrecompiledMap>(bytes.status());
}
