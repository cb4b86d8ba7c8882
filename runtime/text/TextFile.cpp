//===- TextFile.cpp - Mapping and checking .text files --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opening a file checks everything that TextFile::find relies on: version, size, checksum of header and section table,
// and the place of each section. It does not read the contents of sections, so it takes microseconds.
//===----------------------------------------------------------------------===//

#include "runtime/text/TextFile.h"
#include "runtime/src/Error.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace attune;
using namespace attune::text;

static const SectionEntry *sectionTable(const uint8_t *base) { return reinterpret_cast<const SectionEntry *>(base + sizeof(TextHeader)); }

static bool isKnown(uint32_t kind) {
  switch (kind) {
  case kSectionSettings:
  case kSectionRules:
  case kSectionStrings:
  case kSectionStringStarts:
  case kSectionTokenFlags:
  case kSectionLookup:
  case kSectionModelLookup:
  case kSectionModelStrings:
  case kSectionModelStarts:
  case kSectionDecodeStrings:
  case kSectionDecodeStarts:
  case kSectionTrie:
  case kSectionMerges:
  case kSectionMergeTags:
  case kSectionSymbols:
  case kSectionScores:
  case kSectionSteps:
  case kSectionPool:
  case kSectionCharacters:
  case kSectionUnicode:
  case kSectionAddedTrie:
  case kSectionAddedNormalTrie:
  case kSectionChatTemplate:
  case kSectionLabels:
  case kSectionTask:
    return true;
  }
  return false;
}

attune_status TextFile::check(const char *name) const {
  if (bytes < sizeof(TextHeader))
    return fail(ATTUNE_CORRUPT, "'%s' is not a .text file: %zu bytes, at least %zu expected", name, bytes, sizeof(TextHeader));
  const TextHeader &header = this->header();
  if (header.magic != kTextMagic)
    return fail(ATTUNE_CORRUPT, "'%s' is not a .text file: magic is %016llx, expected %016llx", name,
                static_cast<unsigned long long>(header.magic), static_cast<unsigned long long>(kTextMagic));
  if (header.major != kTextMajor)
    return fail(ATTUNE_INCOMPATIBLE, "'%s' has version %u.%u of the format, this runtime reads %u", name, header.major, header.minor,
                kTextMajor);
  if (header.fileBytes != bytes)
    return fail(ATTUNE_CORRUPT, "'%s' has %zu bytes, expected %llu: it is %s", name, bytes,
                static_cast<unsigned long long>(header.fileBytes), bytes < header.fileBytes ? "truncated" : "too long");
  size_t tableEnd = sizeof(TextHeader) + size_t(header.numSections) * sizeof(SectionEntry);
  if (header.numSections > kMaxSections || tableEnd > bytes)
    return fail(ATTUNE_CORRUPT, "'%s' has a damaged header: %u sections in %zu bytes", name, header.numSections, bytes);
  uint64_t checksum = computeHeaderChecksum(header, sectionTable(base));
  if (checksum != header.checksum)
    return fail(ATTUNE_CORRUPT, "'%s' has a header with checksum %016llx, expected %016llx", name,
                static_cast<unsigned long long>(checksum), static_cast<unsigned long long>(header.checksum));
  for (uint32_t i = 0; i < header.numSections; ++i) {
    const SectionEntry &entry = sectionTable(base)[i];
    if (entry.offset % kSectionAlignment || entry.offset < tableEnd || entry.offset > bytes || entry.bytes > bytes - entry.offset)
      return fail(ATTUNE_CORRUPT, "'%s' has a damaged section table: section %u at %llu + %llu of %zu bytes", name, i,
                  static_cast<unsigned long long>(entry.offset), static_cast<unsigned long long>(entry.bytes), bytes);
    if ((entry.flags & kSectionRequired) && !isKnown(entry.kind))
      return fail(ATTUNE_INCOMPATIBLE, "'%s' needs section '%.4s', which this runtime does not know", name,
                  reinterpret_cast<const char *>(&entry.kind));
  }
  return ATTUNE_OK;
}

attune_status TextFile::borrow(const char *name, const void *data, size_t size) {
  if (reinterpret_cast<uintptr_t>(data) % kSectionAlignment)
    return fail(ATTUNE_INVALID_ARGUMENT, "'%s': expected memory at a multiple of %zu", name, kSectionAlignment);
  base = static_cast<const uint8_t *>(data);
  bytes = size;
  mapped = false;
  attune_status status = check(name);
  if (status != ATTUNE_OK)
    close();
  return status;
}

/// Maps the whole file of |fd|, and sets |out| to its address and |outBytes| to its size. Fails with IO_ERROR, or with
/// CORRUPT if it is no regular file or shorter than a header.
static attune_status mapWhole(const char *path, int fd, void **out, size_t *outBytes) {
  struct stat info;
  if (fstat(fd, &info) != 0)
    return fail(ATTUNE_IO_ERROR, "cannot read '%s': %s", path, strerror(errno));
  if (!S_ISREG(info.st_mode) || info.st_size < static_cast<off_t>(sizeof(TextHeader)))
    return fail(ATTUNE_CORRUPT, "'%s' is not a .text file: %lld bytes, at least %zu expected", path, static_cast<long long>(info.st_size),
                sizeof(TextHeader));
  void *base = mmap(nullptr, info.st_size, PROT_READ, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED)
    return fail(ATTUNE_IO_ERROR, "cannot map '%s' (%lld bytes): %s", path, static_cast<long long>(info.st_size), strerror(errno));
  *out = base;
  *outBytes = info.st_size;
  return ATTUNE_OK;
}

attune_status TextFile::open(const char *path) {
  int fd = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); // a pipe without a writer must not block
  if (fd < 0)
    return fail(errno == ENOENT ? ATTUNE_NOT_FOUND : ATTUNE_IO_ERROR, "cannot open '%s': %s", path, strerror(errno));
  void *data = nullptr;
  attune_status status = mapWhole(path, fd, &data, &bytes);
  ::close(fd);
  ATTUNE_TRY(status);
  base = static_cast<const uint8_t *>(data);
  mapped = true;
  status = check(path);
  if (status != ATTUNE_OK)
    close();
  return status;
}

void TextFile::close() {
  if (base && mapped)
    munmap(const_cast<uint8_t *>(base), bytes);
  base = nullptr;
  bytes = 0;
}

Section TextFile::find(uint32_t kind) const {
  for (uint32_t i = 0; i < header().numSections; ++i)
    if (const SectionEntry &entry = sectionTable(base)[i]; entry.kind == kind)
      return {base + entry.offset, static_cast<size_t>(entry.bytes)};
  return {};
}

/// Checks the bytes [begin, end) of the file |name|, which is mapped at |base|; they lie outside all sections. Fails
/// with CORRUPT if one of them is not 0.
static attune_status verifyPadding(const char *name, const uint8_t *base, size_t begin, size_t end) {
  for (size_t at = begin; at < end; ++at)
    if (base[at])
      return fail(ATTUNE_CORRUPT, "'%s': byte %zu, between sections, is %u, expected 0", name, at, base[at]);
  return ATTUNE_OK;
}

attune_status TextFile::verify(const char *name) const {
  size_t end = sizeof(TextHeader) + size_t(header().numSections) * sizeof(SectionEntry);
  for (uint32_t i = 0; i < header().numSections; ++i) {
    const SectionEntry &entry = sectionTable(base)[i];
    ATTUNE_TRY(verifyPadding(name, base, end, entry.offset));
    uint64_t checksum = attune_checksum(base + entry.offset, entry.bytes);
    if (checksum != entry.checksum)
      return fail(ATTUNE_CORRUPT, "'%s': section '%.4s' has checksum %016llx, expected %016llx", name,
                  reinterpret_cast<const char *>(&entry.kind), static_cast<unsigned long long>(checksum),
                  static_cast<unsigned long long>(entry.checksum));
    end = entry.offset + entry.bytes;
  }
  return verifyPadding(name, base, end, bytes);
}
