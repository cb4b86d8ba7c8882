//===- DataStream.cpp - Buffered, hashed output of packed data ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Weights/DataStream.h"
#include "attune/abi.h"

#include <algorithm>
#include <cstring>

using namespace attune;

void StreamChecksum::update(const uint8_t *data, size_t bytes) {
  total += bytes;
  uint64_t word;
  while (numPending > 0 && bytes > 0) {
    pending[numPending++] = *data++;
    --bytes;
    if (numPending == 8) {
      std::memcpy(&word, pending, 8);
      hash = attune_checksum_word(hash, word);
      numPending = 0;
    }
  }
  for (; bytes >= 8; data += 8, bytes -= 8) {
    std::memcpy(&word, data, 8);
    hash = attune_checksum_word(hash, word);
  }
  if (bytes > 0) { // nothing is pending then
    std::memcpy(pending, data, bytes);
    numPending = bytes;
  }
}

uint64_t StreamChecksum::finish() {
  if (numPending > 0) {
    uint64_t word = 0;
    std::memcpy(&word, pending, numPending);
    hash = attune_checksum_word(hash, word);
  }
  return attune_checksum_word(hash, total);
}

DataStream::DataStream(OutputFile &file) : file(file), begin(file.position()) {
  for (std::vector<uint8_t> &buffer : buffers)
    buffer.resize(kMaxElements * sizeof(float) + kPageBytes);
}

DataStream::~DataStream() { (void)wait().failed(); }

Status DataStream::wait() { return pending.valid() ? pending.get() : Status(); }

Status DataStream::flush(bool whole) {
  if (Status status = wait(); status.failed())
    return status;
  uint64_t end = begin + position();
  size_t rest = whole ? 0 : std::min<uint64_t>(end % kPageBytes, used), bytes = used - rest;
  std::vector<uint8_t> &from = buffers[current], &to = buffers[current ^ 1];
  std::copy_n(from.data() + bytes, rest, to.data());
  pending = std::async(std::launch::async, [this, data = from.data(), bytes] {
    checksum.update(data, bytes);
    return file.write(data, bytes);
  });
  written += bytes;
  used = rest;
  current ^= 1;
  return {};
}

Result<uint8_t *> DataStream::reserve(int64_t bytes) {
  if (used + bytes > buffers[current].size())
    if (Status status = flush(/*whole=*/false); status.failed())
      return status;
  uint8_t *memory = buffers[current].data() + used;
  used += bytes;
  return memory;
}

Status DataStream::padTo(uint64_t offset) {
  while (position() < offset) {
    if (used == buffers[current].size())
      if (Status status = flush(/*whole=*/false); status.failed())
        return status;
    size_t bytes = std::min<uint64_t>(offset - position(), buffers[current].size() - used);
    std::memset(buffers[current].data() + used, 0, bytes);
    used += bytes;
  }
  return {};
}

Result<uint64_t> DataStream::finish() {
  if (Status status = flush(/*whole=*/true); status.failed())
    return status;
  if (Status status = wait(); status.failed())
    return status;
  return checksum.finish();
}
