//===- TextFileWriter.cpp - Writing .text files ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Text/TextFileWriter.h"

#include "attune/runtime.h"

#include <cstring>

using namespace attune::text;

static uint64_t checksum(const std::string &bytes) { return attune_checksum(bytes.data(), bytes.size()); }

void TextFileWriter::add(uint32_t kind, std::string bytes, bool required) { parts.push_back({kind, required, std::move(bytes)}); }

void TextFileWriter::addInput(const std::string &bytes) {
  inputHash[0] = attune_checksum_word(inputHash[0], checksum(bytes));
  inputHash[1] = attune_checksum_word(inputHash[1] + 1, inputHash[0] ^ bytes.size());
}

/// Returns |size| rounded up to the alignment of sections.
static size_t align(size_t size) { return (size + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment; }

std::string TextFileWriter::finish() const {
  std::vector<SectionEntry> table;
  size_t offset = align(sizeof(TextHeader) + parts.size() * sizeof(SectionEntry));
  for (const Part &part : parts) {
    table.push_back({part.kind, part.required ? kSectionRequired : 0, offset, part.bytes.size(), checksum(part.bytes)});
    offset = align(offset + part.bytes.size());
  }
  TextHeader header = {};
  header.magic = kTextMagic;
  header.major = kTextMajor;
  header.minor = kTextMinor;
  header.numSections = parts.size();
  header.fileBytes = offset;
  header.referenceId = referenceId;
  std::memcpy(header.inputHash, inputHash, sizeof(inputHash));
  header.checksum = computeHeaderChecksum(header, table.data());
  std::string file(offset, '\0');
  std::memcpy(file.data(), &header, sizeof(header));
  std::memcpy(file.data() + sizeof(header), table.data(), table.size() * sizeof(SectionEntry));
  for (size_t i = 0; i < parts.size(); ++i)
    std::memcpy(file.data() + table[i].offset, parts[i].bytes.data(), parts[i].bytes.size());
  return file;
}
