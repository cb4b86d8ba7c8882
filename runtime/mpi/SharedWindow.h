//===- SharedWindow.h - Exchange through memory of one host -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_MPI_SHAREDWINDOW_H
#define ATTUNE_RUNTIME_MPI_SHAREDWINDOW_H

#include "attune/ranks.h"

#include <atomic>

namespace attune::ranks {

/// Memory that the ranks of one host share, and through which they exchange bytes (SharedWindow.cpp describes how).
class SharedWindow {
public:
  /// Returns the size in bytes of the memory that |count| ranks share.
  static size_t bytes(int64_t count) { return static_cast<size_t>(count) * sizeof(Segment); }

  /// Clears the segment of |rank| in |memory|, before any rank calls open. Memory of zeros is clear already.
  static void clear(void *memory, int64_t rank);
  /// Uses |memory|, at a multiple of 4096, as rank |rank| of |count|. The segments of all ranks must be clear before
  /// the first rank calls this. |stallSeconds| is the longest wait for another rank in seconds; 0 means 30.
  void open(void *memory, int64_t rank, int64_t count, double stallSeconds);

  /// Gathers as attune_ranks::all_gather, without gather.scratch. After an error, which error() describes, all later
  /// calls of gather and exchange fail, since ranks may be at different steps.
  int32_t gather(const attune_gather &gather);
  /// Exchanges as attune_transport::exchange.
  int32_t exchange(const void *part, uint64_t bytes, void *parts);
  /// Makes the waits of all ranks fail, except a wait for a rank that has published the step already.
  void setAborted();
  bool isAborted() const;
  const char *error() const { return message; }

private:
  /// The size of a buffer, and so the largest chunk of a step.
  static constexpr size_t kBufferBytes = size_t(1) << 20;

  /// The shared memory of one rank. Only this rank writes to it.
  struct alignas(4096) Segment {
    /// The number of the last step whose chunk is complete in its buffer, modulo 2^32.
    alignas(64) std::atomic<uint32_t> step;
    /// 1 after setAborted, else 0.
    std::atomic<uint32_t> aborted;
    /// For each buffer, the size in bytes of the rank's whole part in the last step that wrote the buffer. Ranks
    /// compare these sizes, to detect that they are not in the same operation.
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
