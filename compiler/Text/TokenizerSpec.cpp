//===- TokenizerSpec.cpp - A tokenizer before it is tables ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Text/TokenizerSpec.h"

#include <algorithm>

using namespace attune;
using namespace attune::text;

PoolString Pool::add(const std::string &bytes, size_t alignment) {
  auto place = places.find(bytes);
  if (place == places.end() || place->second % alignment) {
    content.resize((content.size() + alignment - 1) / alignment * alignment);
    place = places.insert_or_assign(bytes, uint32_t(content.size())).first;
    content += bytes;
  }
  return {place->second, uint32_t(bytes.size())};
}

void TokenizerSpec::addToken(const std::string &content, uint32_t id) {
  if (id >= tokens.size()) {
    tokens.resize(id + 1);
    exists.resize(id + 1);
  }
  tokens[id] = content;
  exists[id] = true;
  vocab[content] = id;
}

void TokenizerSpec::addTemplate(const std::vector<TemplatePiece> &single, const std::vector<TemplatePiece> &pair, uint32_t flags) {
  auto add = [&](const std::vector<TemplatePiece> &pieces) {
    return pool.add(std::string(reinterpret_cast<const char *>(pieces.data()), pieces.size() * sizeof(TemplatePiece)), 4).offset;
  };
  Step step = makeStep(StepKind::ProcessTemplate, add(single));
  step.b = uint32_t(single.size());
  step.c = add(pair);
  step.d = uint32_t(pair.size());
  step.e = flags;
  processors.push_back(step);
}

uint32_t TokenizerSpec::countIds() const {
  size_t count = tokens.size();
  if (!added.empty())
    count = std::max(count, size_t(added.rbegin()->first) + 1);
  if (!decodedOnly.empty())
    count = std::max(count, size_t(decodedOnly.rbegin()->first) + 1);
  return uint32_t(count);
}

std::optional<uint32_t> TokenizerSpec::findToken(const std::string &content) const {
  if (auto place = addedIds.find(content); place != addedIds.end())
    return place->second;
  if (auto place = vocab.find(content); place != vocab.end())
    return place->second;
  return std::nullopt;
}

void TokenizerSpec::addTokens(const std::vector<AddedToken> &call) {
  uint32_t next = modelSize;
  if (!added.empty() && (added.rbegin()->first >= modelSize || modelSize == 0))
    next = added.rbegin()->first + 1;
  for (const AddedToken &token : call) {
    if (token.content.empty())
      continue;
    std::optional<uint32_t> known = findToken(token.content);
    uint32_t id = known ? *known : next++;
    addedIds[token.content] = id;
    added[id] = token;
    if (token.special)
      specials.insert(token.content);
  }
}
