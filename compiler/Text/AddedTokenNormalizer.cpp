//===- AddedTokenNormalizer.cpp - Normalized added tokens -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Text/AddedTokenNormalizer.h"
#include "compiler/Support/Json.h"
#include "runtime/text/Normalizer.h"

#include <cstdlib>
#include <cstring>

using namespace attune;
using namespace attune::text;

AddedTokenNormalizer::AddedTokenNormalizer(std::function<Status(TextFileWriter &)> write, const std::string &file)
    : write(std::move(write)), file(file) {}

AddedTokenNormalizer::~AddedTokenNormalizer() { std::free(image); }

Result<std::string> AddedTokenNormalizer::run(const std::string &token) {
  if (!image)
    if (Status status = open(); status.failed())
      return status;
  if (token.size() > kMostBytes)
    return Status::error(file + ": 'added_tokens': expected tokens of at most " + std::to_string(kMostBytes) + " bytes, got " +
                         std::to_string(token.size()));
  Memory memory;
  memory.open(room.data(), room.size() * sizeof(room[0]));
  Normalizer normalizer;
  normalizer.open(*tables, memory, kCapacity);
  AlignedText text = normalizer.run({reinterpret_cast<const uint8_t *>(token.data()), token.size(), nullptr, 0}, false);
  if (normalizer.full())
    return Status::error(file + ": 'added_tokens': expected tokens of at most " + std::to_string(kCapacity) +
                         " bytes after normalization, got a longer one from " + describeJson(Json(token)));
  return std::string(reinterpret_cast<const char *>(text.bytes), text.size);
}

Status AddedTokenNormalizer::open() {
  TextFileWriter plain;
  if (Status status = write(plain); status.failed())
    return status;
  std::string bytes = plain.finish();
  image = std::aligned_alloc(kSectionAlignment, (bytes.size() + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment);
  if (!image)
    return Status::error(file + ": cannot normalize added tokens: " + std::to_string(bytes.size()) + " bytes could not be had");
  std::memcpy(image, bytes.data(), bytes.size());
  tables = std::make_unique<Tables>();
  if (opened.borrow(file.c_str(), image, bytes.size()) != ATTUNE_OK || tables->open(opened, file.c_str()) != ATTUNE_OK)
    return Status::error(attune_last_error());
  room.resize(kCapacity * 6);
  return {};
}
