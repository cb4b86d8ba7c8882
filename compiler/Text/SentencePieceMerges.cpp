//===- SentencePieceMerges.cpp - Merges of SentencePiece's BPE models -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A SentencePiece model of the kind BPE stores pieces and scores, no merges. A piece of n characters has n - 1 splits;
// those whose halves are pieces are merges. The merges are sorted in ascending order of the id of the whole, the length
// of the left half in characters, that of the right half, the id of the left half and that of the right half.
//===----------------------------------------------------------------------===//

#include "compiler/Text/SentencePieceMerges.h"

#include <algorithm>
#include <tuple>

using namespace attune;
using namespace attune::text;

namespace {

struct Split {
  uint32_t whole, leftCharacters, rightCharacters, left, right;

  bool operator<(const Split &other) const {
    return std::tie(whole, leftCharacters, rightCharacters, left, right) <
           std::tie(other.whole, other.leftCharacters, other.rightCharacters, other.left, other.right);
  }
};

} // namespace

Status attune::text::deriveMerges(const SentencePieceModel &model, const std::string &file, TokenizerSpec &spec) {
  // The limit bounds the time. A piece is split at each character, and both parts are looked up, which reads the whole
  // piece: the work grows with the square of the length of the piece.
  static constexpr uint64_t mostWork = uint64_t(1) << 32;
  uint64_t work = 0;
  std::vector<Split> splits;
  for (const auto &[text, id] : spec.vocab) {
    work += uint64_t(text.size()) * text.size();
    if (work > mostWork)
      return Status::error(file + ": expected shorter pieces, got " + std::to_string(model.pieces.size()) +
                           " whose squared lengths add up to more than " + std::to_string(mostWork));
    uint32_t characters = 0;
    for (char c : text)
      characters += (uint8_t(c) & 0xC0) != 0x80;
    uint32_t before = 0;
    for (size_t at = 0; at < text.size(); ++at) {
      if ((uint8_t(text[at]) & 0xC0) == 0x80)
        continue;
      if (at > 0) {
        auto left = spec.vocab.find(text.substr(0, at));
        if (left != spec.vocab.end())
          if (auto right = spec.vocab.find(text.substr(at)); right != spec.vocab.end())
            splits.push_back({id, before, characters - before, left->second, right->second});
      }
      ++before;
    }
  }
  std::sort(splits.begin(), splits.end());
  for (const Split &split : splits)
    spec.merges.emplace_back(spec.tokens[split.left], spec.tokens[split.right]);
  return {};
}
