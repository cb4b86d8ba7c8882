//===- Streams.h - Work that is queued in streams ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order in which queued work runs. A GPU promises only that work runs after the work on which it depends:
//
//   stream A   a0 -> a1        a2      d waits for a1 and b1, a2 and b2 wait for d; there is no order
//                     |        |       between a1 and b1, nor between a2 and b2
//   default           +-> d ---+
//                     |        |
//   stream B   b0 -> b1        b2
//
// By default work runs when it is queued. With `lazy` only work that a caller waits for runs, so a stream without a
// wait is delayed. With `lazy,random=SEED` other work that is ready runs in between, in random order.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_FAKECUDA_STREAMS_H
#define ATTUNE_TEST_FAKECUDA_STREAMS_H

#include "runtime/src/cuda/Driver.h"

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <vector>

namespace attune::fake {

/// Queued work: a function that is called once or, if it was captured into a graph, once for each launch of the graph.
using Work = std::function<void()>;

class Streams {
public:
  static Streams &get();

  /// Creates a stream. If it |isBlocking|, it and the default stream wait for each other.
  cuda::Stream create(bool isBlocking);
  /// Destroys |stream|; work that it has queued still runs. Returns false if there is no such stream.
  bool destroy(cuda::Stream stream);
  /// Returns true for the default stream (null or 1) and for streams that have been created and not destroyed.
  bool isKnown(cuda::Stream stream) const;
  /// Returns the number of streams that have been created and not destroyed.
  size_t count() const { return streams.size() - 1; }

  /// Queues |work| in |stream|, which must be known, and runs it unless the setting `lazy` is on. If |stream| is being
  /// captured, records |work| instead. Returns the number of |work|; numbers begin at 1.
  uint64_t enqueue(cuda::Stream stream, Work work);
  /// Runs work |number| and the work on which it depends.
  void finish(uint64_t number);
  /// Runs all work of |stream| and the work on which it depends.
  void finish(cuda::Stream stream);
  /// Runs all work of all streams.
  void finishAll();

  // Captures. A stream that is being captured records its work for a graph and runs none of it.
  /// Begins a capture of |stream| in the CUstreamCaptureMode |mode|.
  void beginCapture(cuda::Stream stream, int mode);
  /// Ends the capture of |stream| and returns the recorded work.
  std::vector<Work> endCapture(cuda::Stream stream);
  /// Returns the CUstreamCaptureStatus of |stream|.
  int captureStatus(cuda::Stream stream) const;
  /// Returns true if a blocking stream is being captured, so that the default stream cannot be used.
  bool isBlockingCaptured() const;
  /// Returns true if some capture forbids threads in capture mode |mode| to make calls that may wait for the whole GPU.
  bool forbidsUnsafeCalls(int mode) const;
  /// Invalidates the capture of |stream|, or, with null, every capture.
  void invalidateCaptures(cuda::Stream stream);

private:
  struct State {
    bool isBlocking = true;
    uint64_t last = 0; ///< the number of the work that was queued last, done or not; 0 if there is none
    int capture = cuda::captureNone, mode = 0; ///< a CUstreamCaptureStatus and a CUstreamCaptureMode
    std::vector<Work> captured;
  };
  struct Item {
    Work work;
    std::vector<uint64_t> after; ///< the numbers of the work on which it depends
  };
  static cuda::Stream canonical(cuda::Stream stream);
  void runReady(const std::map<uint64_t, bool> &needed);

  std::map<cuda::Stream, State> streams = {{nullptr, State()}};
  std::map<uint64_t, Item> pending; ///< the work that has not run, by number
  uint64_t lastNumber = 0;
  uintptr_t lastHandle = 0x1000;
  std::mt19937 random;
};

} // namespace attune::fake

#endif // ATTUNE_TEST_FAKECUDA_STREAMS_H
