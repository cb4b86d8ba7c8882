//===- SharedWindow.h - Exchange through memory of one host -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_MPI_SHAREDWINDOW_H
#define ATTUNE_RUNTIME_MPI_SHAREDWINDOW_H

#include "attune/ranks.h"

#include <atomic>

namespace attune::ranks {

/// Memory that the ranks of one host share, by which they exchange bytes.
class SharedWindow {
public:
  /// Returns the bytes of the memory that |count| ranks share.
  static size_t bytes(int64_t count) { return static_cast<size_t>(count) * sizeof(Segment); }

  /// Clears the part of |rank| in |memory|, before any rank opens it. Memory that is zero needs no clearing.
  static void clear(void *memory, int64_t rank);
  /// Uses |memory| as rank |rank| of |count|. The parts of all ranks must be clear before the first rank calls this.
  /// |stallSeconds| is the longest wait for another rank in seconds; 0 means 30.
  void open(void *memory, int64_t rank, int64_t count, double stallSeconds);

  /// Gathers as attune_ranks::all_gather, without gather.scratch. After an error all gathers fail, since ranks may be
  /// at different steps.
  int32_t gather(const attune_gather &gather);
  /// Exchanges as attune_transport::exchange.
  int32_t exchange(const void *part, uint64_t bytes, void *parts);
  /// Makes the waits of other ranks fail, except waits for a rank that has completed the step already.
  void setAborted();
  bool isAborted() const;
  const char *error() const { return message; }

private:
  static constexpr size_t kBufferBytes = size_t(1) << 20;

  /// The part of one rank. Nobody but the rank writes to it.
  struct alignas(4096) Segment {
    /// The number of the last step whose buffer is complete.
    alignas(64) std::atomic<uint32_t> step;
    std::atomic<uint32_t> aborted;
    /// The size of the whole part in the last step that used each buffer. Ranks compare it, to detect that they are not
    /// at the same operation.
    std::atomic<uint64_t> partBytes[2];
    alignas(64) char buffers[2][kBufferBytes];
  };
  static_assert(std::atomic<uint32_t>::is_always_lock_free && std::atomic<uint64_t>::is_always_lock_free, "shared between processes");

  bool waitFor(int64_t other);

  Segment *segments = nullptr;
  int64_t rank = 0, count = 0, spins = 0;
  double limit = 0;
  uint32_t now = 0;
  char message[256] = "";
};

} // namespace attune::ranks

#endif // ATTUNE_RUNTIME_MPI_SHAREDWINDOW_H
