//===- CacheRecord.h - The record of a compiled model -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A record is a text file (JSON) in the folder of each cached entry. It is written last: a folder without a record is
// an incomplete entry.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_DRIVER_CACHERECORD_H
#define ATTUNE_COMPILER_DRIVER_CACHERECORD_H

#include "compiler/Support/Json.h"

namespace attune {

/// A file of a cached entry.
struct CachedFile {
  std::string name;
  uint64_t bytes = 0;
  /// The offset and the size in bytes of the section of packed weights, 0 in other files. The checksum excludes this
  /// section: only `attune inspect --verify` compares its hash.
  uint64_t dataOffset = 0, dataBytes = 0;
  /// The hexadecimal hash of the file without the section of packed weights.
  std::string checksum;
};

/// The content of a record.
struct CacheRecord {
  /// The name of the record in the folder of its entry.
  static constexpr const char *kFileName = "record.json";

  /// Absolute path of the model when it was compiled.
  std::string model;
  /// The name of the shared object.
  std::string object;
  /// The compile flags, one line.
  std::string flags;
  /// The hash of CacheKey::tensors: the compiler and the files with the values of the tensors.
  std::string tensorsKey;
  std::vector<CachedFile> files;

  /// Reads the record in |folder|. Fails if it is missing or damaged, which its own checksum reveals.
  static Result<CacheRecord> read(const std::string &folder);
  /// Writes the record to |folder|.
  Status write(const std::string &folder) const;
  /// Adds the file |name| of |folder| to the record, with its size and checksum. Does not write the record.
  Status addFile(const std::string &folder, const std::string &name);
  /// Compares the files in |folder| with the sizes and checksums of the record. An error names the first file that
  /// differs.
  Status verify(const std::string &folder) const;
  /// Returns the weights file; null if there is none.
  const CachedFile *weights() const;
};

/// Returns true if this process has too few descriptors or too little address space left to read the entry in |folder|.
/// A failure to read it then says nothing about its files.
bool lacksResourcesToRead(const std::string &folder);

/// Fails if the file in |folder| that |file| describes cannot be read or has another size or checksum.
Status verifyCachedFile(const std::string &folder, const CachedFile &file);

} // namespace attune

#endif // ATTUNE_COMPILER_DRIVER_CACHERECORD_H
