//===- SharedWindow.cpp - Exchange through memory of one host -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every rank has a segment with two buffers, a and b, and the number of its last step. In step s a rank copies a chunk
// of its part to buffer s mod 2 of its segment, publishes s, and copies the chunk of each other rank from that rank's
// segment when that rank has published s. With two ranks, where 1:a is buffer a in the segment of rank 1:
//
//   rank 0   write 0:a   read 1:a   write 0:b   read 1:b   write 0:a …
//   rank 1   write 1:a   read 0:a   write 1:b   read 0:b   write 1:a …
//
// No barrier is needed. A rank writes the buffer of step s again in step s + 2, after it has read the chunks of all
// ranks in step s + 1. So all ranks have published s + 1 by then, which each does after it has read all chunks of step
// s.
//
//===----------------------------------------------------------------------===//

#include "SharedWindow.h"
#include "CpuMask.h"
#include "Waiting.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace attune::ranks;

void SharedWindow::clear(void *memory, int64_t rank) {
  Segment &own = static_cast<Segment *>(memory)[rank];
  own.step.store(0, std::memory_order_relaxed);
  own.aborted.store(0, std::memory_order_relaxed);
  for (std::atomic<uint64_t> &bytes : own.partBytes)
    bytes.store(0, std::memory_order_relaxed);
}

void SharedWindow::open(void *memory, int64_t ownRank, int64_t ranks, double stallSeconds) {
  segments = static_cast<Segment *>(memory);
  rank = ownRank;
  count = ranks;
  limit = stallSeconds > 0 ? stallSeconds : 30;
  spins = ranks <= CpuMask::ofThread().count() ? 2000 : 200;
}

bool SharedWindow::waitFor(int64_t other) {
  Segment &segment = segments[other];
  int64_t aborted = -1;
  bool came = Waiting(spins, limit).wait([&] {
    if (static_cast<int32_t>(segment.step.load(std::memory_order_acquire) - now) >= 0)
      return true;
    for (int64_t r = 0; r < count && aborted < 0; ++r)
      if (segments[r].aborted.load(std::memory_order_relaxed))
        aborted = r;
    return aborted >= 0;
  });
  if (aborted >= 0)
    snprintf(message, sizeof(message), "rank %lld has ended", static_cast<long long>(aborted));
  else if (!came)
    snprintf(message, sizeof(message), "rank %lld has not answered for %g seconds", static_cast<long long>(other), limit);
  return came && aborted < 0;
}

void SharedWindow::setAborted() { segments[rank].aborted.store(1, std::memory_order_relaxed); }

bool SharedWindow::isAborted() const {
  for (int64_t r = 0; r < count; ++r)
    if (segments[r].aborted.load(std::memory_order_relaxed))
      return true;
  return false;
}

namespace {
/// Calls |copy|(row, column, bytes) for each piece of a row in the bytes [from, to) of the part of a rank, whose rows
/// count as consecutive here. |column| is the offset in bytes in the row at which the piece begins.
template <typename Copy>
void forEachPiece(const attune_gather &gather, uint64_t from, uint64_t to, Copy copy) {
  uint64_t rowBytes = static_cast<uint64_t>(gather.units * gather.unit_bytes);
  while (from < to) {
    uint64_t row = from / rowBytes, column = from % rowBytes, bytes = std::min(rowBytes - column, to - from);
    copy(static_cast<int64_t>(row), static_cast<int64_t>(column), bytes);
    from += bytes;
  }
}
} // namespace

int32_t SharedWindow::gather(const attune_gather &gather) {
  if (*message)
    return 1;
  uint64_t partBytes = static_cast<uint64_t>(gather.rows * gather.units * gather.unit_bytes), from = 0;
  do {
    uint64_t to = std::min<uint64_t>(from + kBufferBytes, partBytes);
    ++now;
    Segment &own = segments[rank];
    char *out = own.buffers[now % 2];
    forEachPiece(gather, from, to, [&](int64_t row, int64_t column, uint64_t bytes) {
      memcpy(out, static_cast<const char *>(gather.data) + row * gather.data_stride + column, bytes);
      out += bytes;
    });
    own.partBytes[now % 2].store(partBytes, std::memory_order_relaxed);
    own.step.store(now, std::memory_order_release);
    // Each rank begins with its own segment, so that ranks do not all read the same segment at once.
    for (int64_t i = 0; i < count; ++i) {
      int64_t other = (rank + i) % count;
      if (!waitFor(other))
        return 1;
      uint64_t theirs = segments[other].partBytes[now % 2].load(std::memory_order_relaxed);
      if (theirs != partBytes) {
        snprintf(message, sizeof(message), "rank %lld exchanges %llu bytes, rank %lld %llu: they do not run the same call",
                 static_cast<long long>(rank), static_cast<unsigned long long>(partBytes), static_cast<long long>(other),
                 static_cast<unsigned long long>(theirs));
        return 2;
      }
      const char *in = segments[other].buffers[now % 2];
      char *result = static_cast<char *>(gather.result) + gather.begins[other] * gather.unit_bytes;
      forEachPiece(gather, from, to, [&](int64_t row, int64_t column, uint64_t bytes) {
        memcpy(result + row * gather.result_stride + column, in, bytes);
        in += bytes;
      });
    }
    from = to;
  } while (from < partBytes);
  return 0;
}

int32_t SharedWindow::exchange(const void *part, uint64_t bytes, void *parts) {
  int64_t begins[ATTUNE_MAX_RANKS];
  for (int64_t r = 0; r < count; ++r)
    begins[r] = r * static_cast<int64_t>(bytes);
  int64_t size = static_cast<int64_t>(bytes);
  return gather({part, parts, nullptr, begins, 1, size, 1, size, size * count});
}
