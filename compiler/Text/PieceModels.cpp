//===- PieceModels.cpp - SentencePiece's own encoding and decoding --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Text/PieceModels.h"
#include "compiler/Text/Precompiled.h"
#include "compiler/Text/TokenizerBuilder.h"
#include "compiler/Text/Unicode.h"

#include <algorithm>
#include <cfloat>
#include <cstdio>

using namespace attune;
using namespace attune::text;

using Piece = SentencePieceModel::Piece;

Status attune::text::checkPieceModel(const SentencePieceModel &model, const std::string &path) {
  const bool isBpe = model.kind == SentencePieceModel::Bpe;
  if (!isBpe && model.kind != SentencePieceModel::Unigram)
    return Status::error(path + ": expected a model Unigram or BPE, got kind " + std::to_string(model.kind));
  if (model.denormalizes)
    return Status::error(path + ": a map for decoded texts (denormalizer_spec) is not supported");
  std::set<std::string> seen;
  size_t unknown = 0;
  for (size_t i = 0; i < model.pieces.size(); ++i) {
    const Piece &piece = model.pieces[i];
    const std::string name = path + ": piece " + std::to_string(i);
    if (piece.text.empty())
      return Status::error(name + ": expected a string, got an empty one");
    if (!seen.insert(piece.text).second)
      return Status::error(name + ": expected different pieces, got a second " + describeJson(Json(piece.text)));
    if (piece.type == SentencePieceModel::UserDefined || (isBpe && piece.type == SentencePieceModel::Unused))
      return Status::error(name + ": pieces of users and unused pieces of BPE are not supported, got " + describeJson(Json(piece.text)));
    unknown += piece.type == SentencePieceModel::Unknown;
  }
  if (unknown != 1)
    return Status::error(path + ": expected one unknown piece, got " + std::to_string(unknown));
  return {};
}

Result<SentencePieceModel> attune::text::readPieceModel(const std::string &path) {
  Result<SentencePieceModel> model = readSentencePiece(path);
  if (model)
    ATTUNE_RETURN_IF_FAILED(checkPieceModel(*model, path));
  return model;
}

static Status addNormalizer(const SentencePieceModel &model, const std::string &path, TokenizerSpec &spec) {
  Step step = {};
  step.kind = StepKind::NormalizePieces;
  if (!model.characterMap.empty()) {
    Result<size_t> trieBytes = measurePrecompiledTrie(model.characterMap);
    if (!trieBytes)
      return Status::error(path + ": 'precompiled_charsmap': " + trieBytes.message());
    PoolString units = spec.pool.add(model.characterMap.substr(4, *trieBytes), 4);
    PoolString texts = spec.pool.add(model.characterMap.substr(4 + *trieBytes));
    step.a = units.offset;
    step.b = units.bytes / 4;
    step.c = texts.offset;
    step.d = texts.bytes;
  }
  step.e = (model.removesExtraSpaces ? kPiecesTrim : 0u) | (model.escapesSpaces ? 0u : kPiecesUnmarked);
  if (model.addsDummyPrefix)
    step.e |= model.whiteSpaceIsSuffix ? kPiecesEnd : kPiecesBegin;
  spec.normalizers.push_back(step);
  return {};
}

/// Adds the merges of BPE to |pieces|: two symbols join if both together are a piece; greater scores come first, equal
/// ones from left to right. Also gives an id to each character that occurs in a piece but is no piece. Fails if the
/// search for merges would take too long: if the squares of the lengths of pieces in bytes add up to more than 2^32.
static Status addMerges(const SentencePieceModel &model, const std::string &path, PieceModel &pieces) {
  static constexpr uint64_t mostWork = uint64_t(1) << 32;
  uint64_t work = 0;
  std::set<float, std::greater<float>> scores;
  for (const Piece &piece : model.pieces) {
    if (piece.type != SentencePieceModel::Normal)
      continue;
    scores.insert(piece.score);
    for (uint32_t c : toCodePoints(piece.text))
      if (pieces.ids.try_emplace(toUtf8({c}), pieces.numIds).second)
        ++pieces.numIds;
  }
  std::map<float, uint32_t> ranks;
  for (float score : scores)
    ranks.emplace(score, uint32_t(ranks.size()));
  for (const Piece &piece : model.pieces) {
    if (piece.type != SentencePieceModel::Normal)
      continue;
    work += uint64_t(piece.text.size()) * piece.text.size();
    if (work > mostWork)
      return Status::error(path + ": expected shorter pieces, got some whose squared lengths add up to more than " +
                           std::to_string(mostWork));
    for (size_t at = 1; at < piece.text.size(); ++at) {
      if ((uint8_t(piece.text[at]) & 0xC0) == 0x80)
        continue;
      auto left = pieces.ids.find(piece.text.substr(0, at)), right = pieces.ids.find(piece.text.substr(at));
      if (left != pieces.ids.end() && right != pieces.ids.end())
        pieces.merges.push_back({left->second, right->second, ranks[piece.score], pieces.ids[piece.text]});
    }
  }
  return {};
}

Status attune::text::usePieceModel(const SentencePieceModel &model, const std::string &path, uint32_t unknownId, TokenizerSpec &spec) {
  ATTUNE_RETURN_IF_FAILED(addNormalizer(model, path, spec));
  PieceModel &pieces = spec.pieces.emplace();
  pieces.numIds = spec.countIds();
  float least = FLT_MAX;
  std::set<uint32_t> used;
  for (const Piece &piece : model.pieces) {
    if (piece.type != SentencePieceModel::Normal)
      continue;
    least = std::min(least, piece.score);
    std::optional<uint32_t> id = spec.findToken(piece.text);
    if (id && *id != unknownId && !used.insert(*id).second)
      return Status::error(path + ": expected pieces with different ids, got a second one with the id " + std::to_string(*id) + ": " +
                           describeJson(Json(piece.text)));
    pieces.ids[piece.text] = id && *id != unknownId ? *id : pieces.numIds++;
  }
  spec.model = model.kind == SentencePieceModel::Bpe ? ModelKind::Bpe : ModelKind::Unigram;
  spec.unknownId = unknownId;
  spec.byteFallback = model.byteFallback;
  if (model.byteFallback)
    for (int byte = 0; byte < 256; ++byte) {
      char name[8];
      std::snprintf(name, sizeof(name), "<0x%02X>", byte);
      pieces.byteTokens.push_back(spec.findToken(name).value_or(unknownId));
    }
  if (spec.model == ModelKind::Unigram) {
    pieces.scores.resize(pieces.numIds);
    for (const Piece &piece : model.pieces)
      if (piece.type == SentencePieceModel::Normal)
        pieces.scores[pieces.ids[piece.text]] = double(piece.score);
    pieces.unknownScore = double(least - 10.0f);
    spec.ruleFlags |= kRuleFloatSums;
    return {};
  }
  pieces.firstUnknown = pieces.numIds;
  spec.ruleFlags |= kRuleJoinsUnknown;
  ATTUNE_RETURN_IF_FAILED(addMerges(model, path, pieces));
  if (model.byteFallback && pieces.numIds > pieces.firstUnknown)
    return Status::error(path + ": characters that are parts of pieces, but no pieces, are not supported with byte_fallback");
  return {};
}

PieceDecoder::PieceDecoder(const SentencePieceModel &model) : unknownText(model.unknownText) {
  flags = (model.addsDummyPrefix || model.removesExtraSpaces ? kDecodeDropsMark : 0u) | (model.removesExtraSpaces ? kDecodeDropsMarks : 0u);
  for (const Piece &piece : model.pieces) {
    types[piece.text] = piece.type;
    flags |= piece.type == SentencePieceModel::Byte ? kDecodeByteTokens : 0u;
  }
}

void PieceDecoder::apply(const std::string &piece, TokenForm &form) const {
  auto place = types.find(piece);
  const uint32_t type = place == types.end() ? 0 : place->second;
  form.decoded = type == SentencePieceModel::Control ? "" : type == SentencePieceModel::Unknown ? unknownText : piece;
  if (type == 0 || type == SentencePieceModel::Control || type == SentencePieceModel::Unknown)
    form.flags |= kTokenLiteral;
}

Step PieceDecoder::step() const {
  Step step = {};
  step.kind = StepKind::DecodePieces;
  step.a = flags;
  return step;
}
