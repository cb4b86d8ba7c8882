//===- WeightsFile.cpp - Checking and mapping weights ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The header is untrusted: every offset is checked against the actual size of the file before the file is mapped, so
// that a bad file is an error and not a fault. Opening does not read gigabytes, so the check of the content hash is a
// function of its own (verify).
//===----------------------------------------------------------------------===//

#include "WeightsFile.h"
#include "Error.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace attune;

uint64_t attune_checksum(const void *data, size_t bytes) {
  const char *cursor = static_cast<const char *>(data);
  uint64_t hash = 0xCBF29CE484222325ull, word;
  for (size_t left = bytes; left;) {
    size_t step = left < 8 ? left : 8;
    word = 0;
    memcpy(&word, cursor, step);
    hash = attune_checksum_word(hash, word);
    cursor += step;
    left -= step;
  }
  return attune_checksum_word(hash, bytes);
}

BuildIdText attune::formatBuildId(const uint8_t *id) {
  BuildIdText result;
  for (int i = 0; i < 16; ++i)
    snprintf(result.text + 2 * i, 3, "%02x", id[i]);
  return result;
}

/// Checks magic and ABI version of |header|, and that it describes a file of |size| bytes. Fails with CORRUPT or
/// INCOMPATIBLE.
static attune_status checkHeader(const char *path, const attune_weights_header &header, uint64_t size) {
  if (header.magic != ATTUNE_WEIGHTS_MAGIC)
    return fail(ATTUNE_CORRUPT, "'%s' is not a weights file: magic is %016llx, expected %016llx", path,
                static_cast<unsigned long long>(header.magic), static_cast<unsigned long long>(ATTUNE_WEIGHTS_MAGIC));
  if (header.abi_version != ATTUNE_ABI_VERSION)
    return fail(ATTUNE_INCOMPATIBLE, "'%s' was made for ABI version %u, this runtime has %u", path, header.abi_version, ATTUNE_ABI_VERSION);
  if (header.file_bytes != size)
    return fail(ATTUNE_CORRUPT, "'%s' has %llu bytes, expected %llu: it is %s", path, static_cast<unsigned long long>(size),
                static_cast<unsigned long long>(header.file_bytes), size < header.file_bytes ? "truncated" : "too long");
  auto inside = [&](uint64_t offset, uint64_t bytes) {
    return offset >= sizeof(attune_weights_header) && offset <= size && bytes <= size - offset;
  };
  if (header.header_bytes != sizeof(attune_weights_header) || header.data_offset % 4096 || !inside(header.data_offset, header.data_bytes) ||
      !inside(header.manifest_offset, header.manifest_bytes))
    return fail(ATTUNE_CORRUPT, "'%s' has a damaged header: data at %llu + %llu, manifest at %llu + %llu of %llu bytes", path,
                static_cast<unsigned long long>(header.data_offset), static_cast<unsigned long long>(header.data_bytes),
                static_cast<unsigned long long>(header.manifest_offset), static_cast<unsigned long long>(header.manifest_bytes),
                static_cast<unsigned long long>(size));
  return ATTUNE_OK;
}

bool attune::belongsTo(const attune_weights_header &header, const attune_model_desc &desc) {
  static const uint8_t shared[sizeof(header.build_id)] = {};
  if (memcmp(header.build_id, shared, sizeof(shared)) == 0)
    return header.manifest_checksum == desc.manifest_checksum;
  return memcmp(header.build_id, desc.build_id, sizeof(header.build_id)) == 0;
}

/// Checks that the file belongs to |rank| of |desc| and has desc.weights_bytes bytes of weights. Fails with
/// INCOMPATIBLE or CORRUPT.
static attune_status checkBelongs(const char *path, const attune_weights_header &header, const attune_model_desc &desc, int64_t rank) {
  if (!belongsTo(header, desc))
    return fail(ATTUNE_INCOMPATIBLE, "'%s' has build id %s, model '%s' needs %s: they come from different compilations", path,
                formatBuildId(header.build_id).text, desc.name, formatBuildId(desc.build_id).text);
  uint32_t ranks = desc.num_ranks > 1 ? desc.num_ranks : 1;
  if (header.rank != rank || (header.num_ranks > 1 ? header.num_ranks : 1) != ranks)
    return fail(ATTUNE_INCOMPATIBLE, "'%s' has the weights of rank %u of %u, model '%s' needs those of rank %lld of %u", path, header.rank,
                header.num_ranks, desc.name, static_cast<long long>(rank), ranks);
  if (header.data_bytes != desc.weights_bytes)
    return fail(ATTUNE_CORRUPT, "'%s' has %llu bytes of weights, model '%s' expects %llu", path,
                static_cast<unsigned long long>(header.data_bytes), desc.name, static_cast<unsigned long long>(desc.weights_bytes));
  return ATTUNE_OK;
}

/// Reads and checks the header of |fd|, then maps the file.
static attune_status mapFile(WeightsFile &file, int fd, const attune_model_desc &desc, int64_t rank) {
  struct stat info;
  if (fstat(fd, &info) != 0)
    return fail(ATTUNE_IO_ERROR, "cannot read '%s': %s", file.path, strerror(errno));
  if (!S_ISREG(info.st_mode) || info.st_size < static_cast<off_t>(sizeof(file.header)))
    return fail(ATTUNE_CORRUPT, "'%s' is not a weights file: %lld bytes, at least %zu expected", file.path,
                static_cast<long long>(info.st_size), sizeof(file.header));
  // The header is read and not mapped: if the file is truncated at this moment, an access to a mapping would raise
  // SIGBUS.
  ssize_t got = pread(fd, &file.header, sizeof(file.header), 0);
  if (got != static_cast<ssize_t>(sizeof(file.header)))
    return fail(ATTUNE_IO_ERROR, "cannot read '%s': %s", file.path, got < 0 ? strerror(errno) : "short read");
  ATTUNE_TRY(checkHeader(file.path, file.header, info.st_size));
  ATTUNE_TRY(checkBelongs(file.path, file.header, desc, rank));
  void *base = mmap(nullptr, info.st_size, PROT_READ, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED)
    return fail(ATTUNE_IO_ERROR, "cannot map '%s' (%lld bytes): %s", file.path, static_cast<long long>(info.st_size), strerror(errno));
#ifdef MADV_HUGEPAGE
  // Has an effect on file systems with large pages. A decoder reads nearly all of its weights for each token, and with
  // large pages that needs fewer walks of page tables.
  madvise(base, info.st_size, MADV_HUGEPAGE);
#endif
  file.base = static_cast<const char *>(base);
  return ATTUNE_OK;
}

attune_status WeightsFile::open(const attune_model_desc &desc, int64_t rank, const char *where) {
  base = nullptr;
  ATTUNE_TRY(findWeights(desc, rank, where, path));
  int fd = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); // O_NONBLOCK: a pipe without a writer would block
  if (fd < 0)
    return fail(errno == ENOENT ? ATTUNE_NOT_FOUND : ATTUNE_IO_ERROR, "cannot open '%s': %s", path, strerror(errno));
  attune_status status = mapFile(*this, fd, desc, rank);
  ::close(fd);
  ATTUNE_TRY(status);
  uint64_t checksum = attune_checksum(manifest(), header.manifest_bytes);
  if (checksum != header.manifest_checksum || checksum != desc.manifest_checksum) {
    close();
    return fail(ATTUNE_CORRUPT, "'%s' has a manifest with checksum %016llx, model '%s' expects %016llx", path,
                static_cast<unsigned long long>(checksum), desc.name, static_cast<unsigned long long>(desc.manifest_checksum));
  }
  return ATTUNE_OK;
}

attune_status WeightsFile::verify() const {
  uint64_t hash = attune_checksum(data(), header.data_bytes);
  if (hash != header.content_hash)
    return fail(ATTUNE_CORRUPT, "the weights in '%s' have hash %016llx, expected %016llx", path, static_cast<unsigned long long>(hash),
                static_cast<unsigned long long>(header.content_hash));
  return ATTUNE_OK;
}

void WeightsFile::close() {
  if (base)
    munmap(const_cast<char *>(base), header.file_bytes);
  base = nullptr;
}
