//===- SentencePieceModel.cpp - Reading .model and .spm files -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Text/SentencePieceModel.h"
#include "compiler/Text/Unicode.h"
#include "compiler/Text/VocabularyFiles.h"

#include <cmath>
#include <cstring>

using namespace attune;
using namespace attune::text;

namespace {

/// A reader of the fields of a protocol-buffer message, one after the other. The caller reads a nested message by
/// another reader, so input cannot make the recursion deep.
class MessageReader {
public:
  explicit MessageReader(std::string_view bytes) : at(bytes.data()), end(at + bytes.size()) {}

  /// Reads the next field. Returns false at the end and after an error.
  bool next() {
    if (at == end || bad)
      return false;
    uint64_t tag = readVarint();
    field = uint32_t(tag >> 3);
    number = 0;
    content = {};
    switch (tag & 7) {
    case 0:
      number = readVarint();
      break;
    case 1:
      take(8);
      break;
    case 2:
      take(readVarint());
      break;
    case 5:
      take(4);
      break;
    default:
      bad = true;
    }
    bad |= tag >> 3 == 0 || tag >> 3 > 0x1FFFFFFF;
    wire = uint32_t(tag & 7);
    return !bad;
  }

  bool failed() const { return bad; }
  uint32_t field = 0, wire = 0;
  uint64_t number = 0;      ///< the value of a field of wire type 0 (varint)
  std::string_view content; ///< the bytes of a field of another type

  /// Returns true if the field has the wire type |type|; otherwise marks the message as malformed.
  bool expect(uint32_t type) {
    bad |= wire != type;
    return !bad;
  }

private:
  uint64_t readVarint() {
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 64; shift += 7) {
      if (at == end)
        break;
      auto byte = uint8_t(*at++);
      value |= uint64_t(byte & 0x7F) << shift;
      if (byte < 0x80)
        return value;
    }
    bad = true;
    return 0;
  }

  void take(uint64_t size) {
    if (bad || size > uint64_t(end - at)) {
      bad = true;
      return;
    }
    content = std::string_view(at, size);
    at += size;
  }

  const char *at, *end;
  bool bad = false;
};

} // namespace

static constexpr const char *notModel = ": expected a SentencePiece model, got bytes that are none";

static Status parsePiece(std::string_view bytes, const std::string &file, SentencePieceModel &model) {
  SentencePieceModel::Piece piece;
  MessageReader reader(bytes);
  while (reader.next()) {
    if (reader.field == 1 && reader.expect(2))
      piece.text = reader.content;
    else if (reader.field == 2 && reader.expect(5))
      std::memcpy(&piece.score, reader.content.data(), sizeof(float));
    else if (reader.field == 3 && reader.expect(0))
      piece.type = uint32_t(reader.number);
  }
  const std::string name = file + ": piece " + std::to_string(model.pieces.size());
  if (reader.failed())
    return Status::error(file + notModel);
  if (!isUtf8(piece.text))
    return Status::error(name + ": expected UTF-8, got other bytes");
  if (piece.type < SentencePieceModel::Normal || piece.type > SentencePieceModel::Byte)
    return Status::error(name + ": expected a type from 1 to 6, got " + std::to_string(piece.type));
  if (!std::isfinite(piece.score))
    return Status::error(name + ": expected a finite score, got " + std::to_string(piece.score));
  model.pieces.push_back(std::move(piece));
  return {};
}

/// Reads trainer_spec into |model|. Returns false if the bytes are malformed or a field has another wire type than
/// expected.
static bool parseTrainer(std::string_view bytes, SentencePieceModel &model) {
  MessageReader reader(bytes);
  while (reader.next()) {
    switch (reader.field) {
    case 3:
      if (reader.expect(0))
        model.kind = uint32_t(reader.number);
      break;
    case 24:
      if (reader.expect(0))
        model.whiteSpaceIsSuffix = reader.number != 0;
      break;
    case 35:
      if (reader.expect(0))
        model.byteFallback = reader.number != 0;
      break;
    case 40:
    case 41:
    case 42:
      if (reader.expect(0))
        (reader.field == 40   ? model.unknownId
         : reader.field == 41 ? model.bosId
                              : model.eosId) = int32_t(reader.number);
      break;
    case 44:
      if (reader.expect(2))
        model.unknownText = reader.content;
      break;
    case 45:
    case 46:
    case 47:
      if (reader.expect(2))
        (reader.field == 45   ? model.unknownPiece
         : reader.field == 46 ? model.bosPiece
                              : model.eosPiece) = reader.content;
      break;
    default:
      break;
    }
  }
  return !reader.failed();
}

/// Reads normalizer_spec, or denormalizer_spec, which has the same fields, into |model|. Returns false if the bytes are
/// malformed.
static bool parseNormalizer(std::string_view bytes, SentencePieceModel &model) {
  MessageReader reader(bytes);
  while (reader.next()) {
    if (reader.field == 2 && reader.expect(2))
      model.characterMap = reader.content;
    else if (reader.field >= 3 && reader.field <= 5 && reader.expect(0))
      (reader.field == 3   ? model.addsDummyPrefix
       : reader.field == 4 ? model.removesExtraSpaces
                           : model.escapesSpaces) = reader.number != 0;
  }
  return !reader.failed();
}

Result<SentencePieceModel> attune::text::parseSentencePiece(std::string_view bytes, const std::string &file) {
  SentencePieceModel model;
  MessageReader reader(bytes);
  while (reader.next()) {
    if (reader.field == 1 && reader.expect(2)) {
      if (Status status = parsePiece(reader.content, file, model); status.failed())
        return status;
    } else if (reader.field == 2 && reader.expect(2)) {
      if (!parseTrainer(reader.content, model))
        return Status::error(file + notModel);
    } else if (reader.field == 3 && reader.expect(2)) {
      if (!parseNormalizer(reader.content, model))
        return Status::error(file + notModel);
    } else if (reader.field == 5 && reader.expect(2)) {
      SentencePieceModel other;
      if (!parseNormalizer(reader.content, other))
        return Status::error(file + notModel);
      model.denormalizes = !other.characterMap.empty();
    }
  }
  if (reader.failed() || model.pieces.empty())
    return Status::error(file + notModel);
  for (const std::string *piece : {&model.unknownPiece, &model.bosPiece, &model.eosPiece, &model.unknownText})
    if (!isUtf8(*piece))
      return Status::error(file + ": 'trainer_spec': expected pieces of UTF-8, got other bytes");
  return model;
}

Result<SentencePieceModel> attune::text::readSentencePiece(const std::string &path) {
  Result<MappedFile> file = openVocabularyFile(path);
  if (!file)
    return file.status();
  return parseSentencePiece({reinterpret_cast<const char *>(file->data()), file->size()}, path);
}
