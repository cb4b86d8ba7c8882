//===- DataStream.h - Buffered, hashed output of packed data ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stream has two buffers: while one is filled, another thread hashes and writes the other. All writes but the last
// end at multiples of 2 MiB of the file, so that systems with large pages in the page cache use them for this file.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_WEIGHTS_DATASTREAM_H
#define ATTUNE_WEIGHTS_DATASTREAM_H

#include "compiler/Support/OutputFile.h"

#include <future>
#include <vector>

namespace attune {

/// Computes the attune_checksum of bytes that arrive in pieces.
class StreamChecksum {
public:
  void update(const uint8_t *data, size_t bytes);
  uint64_t finish();

private:
  uint64_t hash = 0xCBF29CE484222325ull, total = 0;
  uint8_t pending[8] = {};
  size_t numPending = 0;
};

/// Appends the data section of a weights file, elements and padding, to a file.
class DataStream {
public:
  explicit DataStream(OutputFile &file);
  ~DataStream();

  /// The largest number of floats for which the caller may reserve memory in one call.
  static constexpr int64_t kMaxElements = int64_t(2) << 20;

  /// Returns memory for the next |bytes| bytes, at most 4 * kMaxElements. The caller must fill the memory before the
  /// next call of reserve, padTo or finish. If the other thread fails to write, a later call of reserve, padTo or
  /// finish returns the error.
  Result<uint8_t *> reserve(int64_t bytes);
  /// Appends zeros up to |offset| in the data section; appends nothing if the position is already there or beyond.
  Status padTo(uint64_t offset);
  /// Returns the number of bytes appended so far, with those in the buffer.
  uint64_t position() const { return written + used; }
  /// Completes the data section and returns its checksum.
  Result<uint64_t> finish();

private:
  /// The size of a large page in bytes.
  static constexpr uint64_t kPageBytes = uint64_t(2) << 20;

  /// Waits for the write in progress, then starts to write the current buffer and makes the other one current. If
  /// |whole| is false, the bytes after the last multiple of kPageBytes in the file are not written yet, but moved to
  /// the other buffer.
  Status flush(bool whole);
  /// Waits for the write in progress, if any, and returns its status.
  Status wait();

  OutputFile &file;
  /// The offset of the data section in the file.
  uint64_t begin;
  StreamChecksum checksum;
  std::vector<uint8_t> buffers[2];
  unsigned current = 0;
  size_t used = 0;
  uint64_t written = 0;
  std::future<Status> pending;
};

} // namespace attune

#endif // ATTUNE_WEIGHTS_DATASTREAM_H
