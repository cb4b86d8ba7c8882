//===- PackedWeights.cpp - Looking into a weights file --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the checks of attune_model_open that need no descriptor.
//===----------------------------------------------------------------------===//
#include "compiler/Tools/PackedWeights.h"

#include <cstdio>
#include <cstring>

using namespace attune;

static constexpr uint64_t pageBytes = 4096;

static std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(value));
  return text;
}

std::string attune::buildIdText(const uint8_t id[16]) {
  std::string text;
  for (int i = 0; i < 16; ++i) {
    text += "0123456789abcdef"[id[i] >> 4];
    text += "0123456789abcdef"[id[i] & 15];
  }
  return text;
}

bool PackedWeights::isPackedWeights(const std::string &path) {
  Result<MappedFile> file = MappedFile::open(path);
  const uint64_t magic = ATTUNE_WEIGHTS_MAGIC;
  return file && file->size() >= sizeof(magic) && std::memcmp(file->data(), &magic, sizeof(magic)) == 0;
}

Result<PackedWeights> PackedWeights::open(const std::string &path) {
  Result<MappedFile> mapped = MappedFile::open(path);
  if (!mapped)
    return mapped.status();
  PackedWeights weights(std::move(*mapped));
  if (Status status = weights.readHeader(); status.failed())
    return status;
  if (Status status = weights.readManifest(); status.failed())
    return status;
  return weights;
}

Status PackedWeights::readHeader() {
  auto expected = [&](const std::string &what, const std::string &got) {
    return Status::error(file.path() + ": expected " + what + ", got " + got);
  };
  if (file.size() < sizeof(head))
    return expected("a weights file of at least " + std::to_string(sizeof(head)) + " bytes", std::to_string(file.size()));
  std::memcpy(&head, file.data(), sizeof(head));
  if (head.magic != ATTUNE_WEIGHTS_MAGIC)
    return expected("the magic of a weights file", hex(head.magic));
  if (head.abi_version != ATTUNE_ABI_VERSION)
    return expected("ABI version " + std::to_string(ATTUNE_ABI_VERSION), std::to_string(head.abi_version));
  if (head.header_bytes < sizeof(head))
    return expected("a header of at least " + std::to_string(sizeof(head)) + " bytes", std::to_string(head.header_bytes));
  if (head.file_bytes != file.size())
    return expected("a file of " + std::to_string(head.file_bytes) + " bytes", std::to_string(file.size()) + " (cut short?)");
  auto inside = [&](uint64_t offset, uint64_t bytes) { return offset <= file.size() && bytes <= file.size() - offset; };
  if (head.data_offset % pageBytes != 0 || !inside(head.data_offset, head.data_bytes))
    return expected("a data section inside the file, at a page boundary",
                    std::to_string(head.data_bytes) + " bytes at offset " + std::to_string(head.data_offset));
  if (!inside(head.manifest_offset, head.manifest_bytes))
    return expected("a manifest inside the file",
                    std::to_string(head.manifest_bytes) + " bytes at offset " + std::to_string(head.manifest_offset));
  return {};
}

Status PackedWeights::readManifest() {
  const uint8_t *text = file.data() + head.manifest_offset;
  uint64_t checksum = attune_checksum(text, head.manifest_bytes);
  if (checksum != head.manifest_checksum)
    return Status::error(file.path() + ": expected manifest checksum " + hex(head.manifest_checksum) + ", got " + hex(checksum));
  Result<std::vector<Json>> parsed =
      parseManifest({reinterpret_cast<const char *>(text), head.manifest_bytes}, file.path() + " (manifest)");
  if (!parsed)
    return parsed.status();
  entries = std::move(*parsed);
  return {};
}

Status PackedWeights::verify() const {
  uint64_t hash = attune_checksum(file.data() + head.data_offset, head.data_bytes);
  if (hash == head.content_hash)
    return {};
  return Status::error(file.path() + ": expected content hash " + hex(head.content_hash) + ", got " + hex(hash));
}

Result<std::vector<Json>> attune::parseManifest(std::string_view text, const std::string &file) {
  Result<Json> root = parseJson(text, file);
  if (!root)
    return root.status();
  const Json *list = root->is_array() ? &*root : findJson(*root, "tensors");
  if (!list || !list->is_array())
    return jsonTypeError(file, "tensors", "an array of objects", list ? *list : *root);
  std::vector<Json> entries;
  for (const Json &entry : *list) {
    if (!entry.is_object())
      return jsonTypeError(file, "tensors[" + std::to_string(entries.size()) + "]", "an object", entry);
    entries.push_back(entry);
  }
  return entries;
}
