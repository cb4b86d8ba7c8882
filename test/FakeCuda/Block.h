//===- Block.h - One block of threads ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks run one after the other. The threads of a block take turns on one thread of the host: each runs until it has
// to wait for others. An operation of a whole warp or block is executed by the thread that arrives at it last.
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

/// A copy by cp.async that is delayed until its thread waits for its group.
struct PendingCopy {
  char *to;
  const char *from;
  uint32_t bytes, zeros; ///< copies |bytes| bytes and clears the |zeros| bytes after them
};

struct Thread {
  enum State { ready, waiting, done };
  emulated::Registers registers;
  State state = ready;
  const char *operation = ""; ///< the name of the operation that the thread arrived at last
  Fiber fiber;
  std::vector<std::vector<PendingCopy>> copyGroups; ///< the committed groups, oldest first
  std::vector<PendingCopy> openCopies;              ///< copies that are in no group yet
  ThreadTime time;
};

/// The threads of a warp or block that have arrived at an operation which they execute together. |inputs| and |outputs|
/// have the words of attune_emulate for each lane of the warp, or for the threads of the block up to the last one that
/// has arrived.
struct Meeting {
  const emulated::Operation *operation = nullptr;
  std::vector<const uint64_t *> inputs; ///< null for a thread that has not arrived
  std::vector<uint64_t *> outputs;
  uint32_t present = 0; ///< the number of threads that have arrived
};

/// A kernel launch. `args[i]` points to the value of argument i.
struct Launch {
  const emulated::Image *image;
  const emulated::Kernel *kernel;
  uint32_t grid[3], block[3];
  uint32_t sharedBytes; ///< dynamic shared memory
  void *const *args;
};

/// The running block of a launch. The same object runs the blocks of the launch one after the other. A function that
/// fails ends the block and does not return.
class Block {
public:
  explicit Block(const Launch &launch);
  ~Block();
  /// Runs the block at the coordinates |place| [3] of the grid. Returns "", or a description of the problem that ended
  /// the block.
  std::string run(const uint32_t *place);

  /// `current` returns the running block. The next three functions return the running thread of this block, the number
  /// of that thread in the block, and the number of threads of the block.
  static Block &current();
  Thread &thread() { return threads[running]; }
  uint32_t threadNumber() const { return running; }
  uint32_t numThreads() const { return static_cast<uint32_t>(threads.size()); }

  using Perform = std::function<void(Meeting &)>;
  /// Waits until the lanes of |mask| of this thread's warp have arrived at |operation|. The last lane to arrive calls
  /// |perform| once for all of them. Fails if |mask| lacks this thread's lane, or if lanes with the same mask wait at
  /// another operation.
  void meetWarp(const emulated::Operation &operation, uint32_t mask, const uint64_t *inputs, uint64_t *outputs, const Perform &perform);
  /// Waits until |count| threads of the block have arrived at barrier |id|, or all threads that have not ended if
  /// |count| is 0. Calls of `arrive` count, too. The thread that completes the barrier calls |perform| once for all
  /// threads that wait. Fails if threads wait at the barrier with another operation.
  void meetBlock(const emulated::Operation &operation, uint32_t id, uint32_t count, const uint64_t *inputs, uint64_t *outputs,
                 const Perform &perform);
  /// Counts this thread as arrived at barrier |id|, of |count| threads, and continues.
  void arrive(const emulated::Operation &operation, uint32_t id, uint32_t count);
  /// Waits until all threads of this thread's warpgroup have arrived at |operation|. The last thread to arrive calls
  /// |perform|; |first| is the number of the warpgroup's first thread in the block.
  void meetWarpgroup(const emulated::Operation &operation, const uint64_t *inputs, uint64_t *outputs,
                     const std::function<void(Meeting &, uint32_t first)> &perform);
  /// Suspends this thread until another thread wakes it. |operation| is the name for error messages.
  void wait(const char *operation);
  void wake(uint32_t thread);
  /// Tells the race detector that this thread's later accesses come after all accesses so far.
  void order() { thread().time.block = ++moments; }
  /// With `random`, sometimes lets other threads run.
  void maybeYield();
  /// Ends the block with an error; does not return.
  [[noreturn]] void fail(const std::string &what);
  /// If |data| is in shared memory, records an access to |bytes| bytes at |data|. Fails if the access is outside of the
  /// static and dynamic shared memory of the launch, or races with an earlier access. Does nothing with `watch=0`.
  void checkShared(const void *data, uint64_t bytes, bool isWrite);
  /// Fails unless the |bytes| bytes at |data| are in the static and dynamic shared memory of the launch.
  void checkRange(const void *data, uint64_t bytes);
  /// Returns the 16 bits of shared memory at the address whose lowest 18 bits are those of |address|. Fails if they are
  /// not in the static and dynamic shared memory of the launch.
  uint16_t sharedElement(uint64_t address);
  /// Returns true if |data| is in shared memory; |offset| becomes its offset there in bytes.
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
  std::map<uint64_t, Meeting> warpMeetings; ///< by `warp << 32 | mask`
  struct Barrier {
    Meeting meeting;
    uint32_t count = 0, arrivals = 0;
    Perform perform;
  };
  std::map<uint32_t, Barrier> barriers;
  SharedRaces races;
};

/// Runs the blocks of |launch|, until one has a problem. Returns "", or a description of the problem with the kernel,
/// the block and the thread.
std::string runLaunch(const Launch &launch);

} // namespace attune::fake

#endif // ATTUNE_TEST_FAKECUDA_BLOCK_H
