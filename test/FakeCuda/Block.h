//===- Block.h - One block of threads ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks run one after the other, the threads of a block in turns: a thread runs until it has to wait for others. The
// thread that arrives last executes an operation of a warp or of the whole block.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_FAKECUDA_BLOCK_H
#define ATTUNE_TEST_FAKECUDA_BLOCK_H

#include "Fiber.h"
#include "MemoryBarriers.h"
#include "SharedRaces.h"
#include "test/Emulator/EmulatedImage.h"
#include "Warpgroups.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace attune::fake {

/// A copy to shared memory that has been started, but not waited for.
struct PendingCopy {
  char *to;
  const char *from;
  uint32_t bytes, zeros; ///< |zeros| more bytes are cleared
};

struct Thread {
  enum State { ready, waiting, done };
  emulated::Registers registers;
  State state = ready;
  const char *operation = ""; ///< the last one
  Fiber fiber;
  std::vector<std::vector<PendingCopy>> copyGroups;
  std::vector<PendingCopy> openCopies;
  ThreadTime time; ///< how often it has met the others
};

/// The threads that have arrived at an operation of all of them. Vectors have an element for each lane of the warp, or
/// for each thread of the block.
struct Meeting {
  const emulated::Operation *operation = nullptr;
  std::vector<const uint64_t *> inputs; ///< null for a thread that has not arrived
  std::vector<uint64_t *> outputs;
  uint32_t present = 0;
};

/// A kernel launch: the function, the grid and the arguments.
struct Launch {
  const emulated::Image *image;
  const emulated::Kernel *kernel;
  uint32_t grid[3], block[3];
  uint32_t sharedBytes;
  void *const *args;
};

class Block {
public:
  explicit Block(const Launch &launch);
  ~Block();
  /// Runs the block with the grid coordinates |place|. Returns "" or the problem.
  std::string run(const uint32_t *place);

  /// Return the running block and its running thread.
  static Block &current();
  Thread &thread() { return threads[running]; }
  uint32_t threadNumber() const { return running; }
  uint32_t numThreads() const { return static_cast<uint32_t>(threads.size()); }

  using Perform = std::function<void(Meeting &)>;
  /// Waits until the lanes of |mask| of this warp have arrived at |operation|; the last one calls |perform| for all of
  /// them.
  void meetWarp(const emulated::Operation &operation, uint32_t mask, const uint64_t *inputs, uint64_t *outputs, const Perform &perform);
  /// The same with |count| threads of the block at barrier |id|; 0 for all threads that are not done.
  void meetBlock(const emulated::Operation &operation, uint32_t id, uint32_t count, const uint64_t *inputs, uint64_t *outputs,
                 const Perform &perform);
  /// Counts this thread in at barrier |id| without waiting.
  void arrive(const emulated::Operation &operation, uint32_t id, uint32_t count);
  /// The same as meetBlock with the warpgroup of this thread; |perform| also gets its first thread.
  void meetWarpgroup(const emulated::Operation &operation, const uint64_t *inputs, uint64_t *outputs,
                     const std::function<void(Meeting &, uint32_t first)> &perform);
  /// Suspends this thread, at |operation|, until another thread wakes it.
  void wait(const char *operation);
  void wake(uint32_t thread);
  /// Orders this thread's later accesses after its earlier ones, for the race detector.
  void order() { thread().time.block = ++moments; }
  /// Sometimes lets other threads run, if the order is random.
  void maybeYield();
  /// Ends the block with an error; does not return.
  [[noreturn]] void fail(const std::string &what);
  /// Notes an access to shared memory and fails if it races with an earlier one.
  void checkShared(const void *data, uint64_t bytes, bool isWrite);
  /// Fails unless |bytes| at |data| are in the shared memory that the launch requested.
  void checkRange(const void *data, uint64_t bytes);
  /// Returns the 16 bits at |address| of the window of shared memory.
  uint16_t sharedElement(uint64_t address);
  /// Returns true if |data| is in shared memory, and its |offset| there.
  bool isShared(const void *data, uint64_t &offset) const;

  MemoryBarriers memoryBarriers;
  std::map<uint32_t, Warpgroup> warpgroups; ///< by number

private:
  static void runThread();
  void suspend();
  bool chooseThread();
  void complete(Meeting &meeting, const std::vector<uint32_t> &members, const Perform &perform);
  void arriveAt(Meeting &meeting, const emulated::Operation &operation, uint32_t index, const uint64_t *inputs, uint64_t *outputs);
  void releaseBarriers();
  std::string describeWaiting() const;
  uint32_t random();

  const Launch &launch;
  std::vector<Thread> threads;
  uint32_t running = 0, live = 0, seed, moments = 0;
  char *stacks;
  Fiber scheduler;
  std::string problem;
  std::map<uint64_t, Meeting> warpMeetings; ///< by warp and mask
  struct Barrier {
    Meeting meeting;
    uint32_t count = 0, arrivals = 0;
    Perform perform;
  };
  std::map<uint32_t, Barrier> barriers;
  SharedRaces races;
};

/// Runs all blocks of |launch|. Returns "" or the problem with its kernel, block and thread.
std::string runLaunch(const Launch &launch);

} // namespace attune::fake

#endif // ATTUNE_TEST_FAKECUDA_BLOCK_H
