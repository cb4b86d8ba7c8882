//===- Seal.cpp - The checksum at the end of a shared object --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Support/Seal.h"

#include "attune/abi.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace attune;

namespace {
struct Seal {
  char magic[8];
  uint64_t bytes, checksum;
};
} // namespace
static_assert(sizeof(Seal) == 24);

static Seal makeSeal(const void *data, size_t size) {
  Seal seal = {{'A', 'T', 'T', 'U', 'N', 'E', 'S', '1'}, size, 0xCBF29CE484222325};
  for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, static_cast<const char *>(data) + at, std::min(sizeof(word), size - at));
    seal.checksum = attune_checksum_word(seal.checksum, word);
  }
  seal.checksum = attune_checksum_word(seal.checksum, size);
  return seal;
}

void attune::appendSeal(std::string &bytes) {
  Seal seal = makeSeal(bytes.data(), bytes.size());
  bytes.append(reinterpret_cast<const char *>(&seal), sizeof(seal));
}

Status attune::checkSeal(const MappedFile &file) {
  Seal found;
  if (file.size() < sizeof(found))
    return {};
  size_t sealed = file.size() - sizeof(found);
  std::memcpy(&found, file.data() + sealed, sizeof(found));
  if (std::memcmp(found.magic, "ATTUNES1", sizeof(found.magic)) != 0 || found.bytes != sealed)
    return {};
  Seal expected = makeSeal(file.data(), sealed);
  if (expected.checksum == found.checksum)
    return {};
  char text[80];
  std::snprintf(text, sizeof(text), "expected content with checksum %016llx, got %016llx", static_cast<unsigned long long>(found.checksum),
                static_cast<unsigned long long>(expected.checksum));
  return Status::error(file.path() + ": " + text + ": the file is damaged");
}
