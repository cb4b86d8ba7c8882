//===- Block.cpp - One block of threads --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Block.h"
#include "Settings.h"

#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <numeric>
#include <sys/mman.h>

using namespace attune;
using namespace attune::fake;

/// The bytes of the stack of each thread of a block. The thread's local memory is on it.
static constexpr size_t stackBytes = 256 << 10;

static Block *currentBlock = nullptr;
Block &Block::current() { return *currentBlock; }

Block::Block(const Launch &launch)
    : launch(launch), threads(launch.block[0] * launch.block[1] * launch.block[2]), seed(Settings::get().seed * 2654435761u + 1),
      races(Settings::get().watch ? launch.image->staticShared + launch.sharedBytes : 0) {
  void *memory = mmap(nullptr, stackBytes * threads.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  stacks = memory == MAP_FAILED ? nullptr : static_cast<char *>(memory);
}

Block::~Block() {
  if (stacks)
    munmap(stacks, stackBytes * threads.size());
}

uint32_t Block::random() { return (seed = seed * 1664525u + 1013904223u) >> 8; }

void Block::runThread() {
  Block &block = current();
  block.launch.kernel->run(block.launch.args);
  block.thread().state = Thread::done;
  --block.live;
  block.releaseBarriers();
  block.suspend();
}

void Block::suspend() { Fiber::switchTo(thread().fiber, scheduler); }

void Block::fail(const std::string &what) {
  problem = "thread " + std::to_string(running) + ": " + what;
  suspend();
  __builtin_unreachable(); // a block with a problem is never resumed
}

/// Chooses the next thread to run; returns false if no thread can run.
bool Block::chooseThread() {
  uint32_t count = numThreads(), start = Settings::get().random ? random() % count : running;
  for (uint32_t i = 0; i < count; ++i)
    if (uint32_t at = (start + i) % count; threads[at].state == Thread::ready) {
      running = at;
      return true;
    }
  return false;
}

void Block::maybeYield() {
  if (Settings::get().random && random() % 4 == 0)
    suspend();
}

std::string Block::describeWaiting() const {
  for (uint32_t i = 0; i < numThreads(); ++i)
    if (threads[i].state == Thread::waiting)
      return "deadlock: thread " + std::to_string(i) + " waits at '" + threads[i].operation + "' for threads that do not come";
  return "deadlock";
}

std::string Block::run(const uint32_t *place) {
  if (!stacks)
    return "no memory for stacks";
  currentBlock = this;
  problem.clear();
  warpMeetings.clear();
  barriers.clear();
  memoryBarriers.clear();
  warpgroups.clear();
  races.clear();
  // Memory that no thread has written holds NaN.
  std::memset(launch.image->shared, 0xff, launch.image->staticShared + launch.sharedBytes);
  live = numThreads();
  running = 0;
  for (uint32_t i = 0; i < numThreads(); ++i) {
    Thread &thread = threads[i];
    thread = Thread();
    const uint32_t *size = launch.block;
    thread.registers = {{i % size[0], i / size[0] % size[1], i / size[0] / size[1]},
                        {size[0], size[1], size[2]},
                        {place[0], place[1], place[2]},
                        {launch.grid[0], launch.grid[1], launch.grid[2]},
                        i % 32,
                        i / 32,
                        Settings::get().watch,
                        0};
    thread.fiber.prepare(stacks + i * stackBytes, stackBytes, runThread);
  }
  while (live && problem.empty()) {
    if (Settings::get().random && random() % 16 == 0)
      memoryBarriers.performOne(*this, random());
    if (!chooseThread()) {
      if (memoryBarriers.performOne(*this, 0))
        continue;
      return describeWaiting();
    }
    *launch.image->registers = thread().registers;
    Fiber::switchTo(scheduler, thread().fiber);
  }
  return problem.empty() ? memoryBarriers.describeRest() : problem;
}

void Block::arriveAt(Meeting &meeting, const emulated::Operation &operation, uint32_t index, const uint64_t *inputs, uint64_t *outputs) {
  if (meeting.present && meeting.operation != &operation)
    fail(std::string("comes to '") + operation.name + "' where others wait at '" + meeting.operation->name + "'");
  meeting.operation = &operation;
  if (meeting.inputs.size() <= index) {
    meeting.inputs.resize(index + 1);
    meeting.outputs.resize(index + 1);
  }
  meeting.inputs[index] = inputs;
  meeting.outputs[index] = outputs;
  ++meeting.present;
  thread().operation = operation.name;
}

/// Executes the operation at which the threads |members| have arrived, and lets them run again.
void Block::complete(Meeting &meeting, const std::vector<uint32_t> &members, const Perform &perform) {
  perform(meeting);
  meeting = Meeting();
  for (uint32_t member : members)
    if (threads[member].state == Thread::waiting)
      threads[member].state = Thread::ready;
}

void Block::meetWarp(const emulated::Operation &operation, uint32_t mask, const uint64_t *inputs, uint64_t *outputs,
                     const Perform &perform) {
  maybeYield();
  uint32_t warp = running / 32, lane = running % 32, lanes = std::min(32u, numThreads() - warp * 32);
  if (lanes < 32)
    mask &= (1u << lanes) - 1;
  if (!(mask >> lane & 1))
    fail(std::string("is not in the mask of its own '") + operation.name + "'");
  Meeting &meeting = warpMeetings[uint64_t(warp) << 32 | mask];
  meeting.inputs.resize(32);
  meeting.outputs.resize(32);
  arriveAt(meeting, operation, lane, inputs, outputs);
  if (meeting.present < static_cast<uint32_t>(__builtin_popcount(mask))) {
    thread().state = Thread::waiting;
    suspend();
    return;
  }
  std::vector<uint32_t> members;
  for (uint32_t i = 0; i < 32; ++i)
    if (mask >> i & 1)
      members.push_back(warp * 32 + i);
  complete(meeting, members, perform);
}

/// Completes each barrier at which enough threads have arrived: Barrier::count threads, or all unfinished threads if
/// this count is 0.
void Block::releaseBarriers() {
  for (auto &[id, barrier] : barriers) {
    Meeting &meeting = barrier.meeting;
    if (!meeting.present || meeting.present + barrier.arrivals < (barrier.count ? barrier.count : live))
      continue;
    std::vector<uint32_t> members;
    for (uint32_t i = 0; i < meeting.inputs.size(); ++i)
      if (meeting.inputs[i])
        members.push_back(i);
    ++moments;
    if (!barrier.count)
      for (Thread &thread : threads)
        thread.time.block = moments;
    for (uint32_t member : members)
      threads[member].time.block = moments;
    barrier.arrivals = 0;
    complete(meeting, members, barrier.perform);
  }
}

void Block::meetBlock(const emulated::Operation &operation, uint32_t id, uint32_t count, const uint64_t *inputs, uint64_t *outputs,
                      const Perform &perform) {
  maybeYield();
  Barrier &barrier = barriers[id];
  barrier.count = count;
  barrier.perform = perform;
  arriveAt(barrier.meeting, operation, running, inputs, outputs);
  thread().state = Thread::waiting;
  releaseBarriers();
  if (thread().state == Thread::waiting)
    suspend();
}

void Block::meetWarpgroup(const emulated::Operation &operation, const uint64_t *inputs, uint64_t *outputs,
                          const std::function<void(Meeting &, uint32_t)> &perform) {
  // Kernels have barriers 0 to 15, so the numbers from 16 on are free for warpgroups.
  uint32_t group = running / warpgroupThreads;
  meetBlock(operation, 16 + group, warpgroupThreads, inputs, outputs,
            [perform, group](Meeting &meeting) { perform(meeting, group * warpgroupThreads); });
}

void Block::wait(const char *operation) {
  thread().operation = operation;
  thread().state = Thread::waiting;
  suspend();
}

void Block::wake(uint32_t number) { threads[number].state = Thread::ready; }

void Block::arrive(const emulated::Operation &operation, uint32_t id, uint32_t count) {
  thread().operation = operation.name;
  barriers[id].count = count;
  ++barriers[id].arrivals;
  releaseBarriers();
}

bool Block::isShared(const void *data, uint64_t &offset) const {
  offset = static_cast<uint64_t>(static_cast<const char *>(data) - launch.image->shared);
  return data >= launch.image->shared && offset < emulated::sharedBytes;
}

void Block::checkRange(const void *data, uint64_t bytes) {
  uint64_t offset, size = launch.image->staticShared + launch.sharedBytes;
  if (!isShared(data, offset) || offset + bytes > size)
    fail("accesses " + std::to_string(bytes) + " bytes that are not all in " + std::to_string(size) + " bytes of shared memory");
}

uint16_t Block::sharedElement(uint64_t address) {
  // A matrix descriptor has only the low 18 bits of an address.
  uint64_t begin = reinterpret_cast<uint64_t>(launch.image->shared), window = begin & ~uint64_t(0x3ffff);
  uint64_t at = window + (address & 0x3ffff);
  at += at < begin ? 0x40000 : 0;
  uint16_t element;
  if (at + 2 > begin + launch.image->staticShared + launch.sharedBytes)
    fail("multiplies what is not in shared memory");
  std::memcpy(&element, reinterpret_cast<void *>(at), 2);
  return element;
}

void Block::checkShared(const void *data, uint64_t bytes, bool isWrite) {
  uint64_t offset;
  if (!Settings::get().watch || !isShared(data, offset))
    return;
  uint64_t size = launch.image->staticShared + launch.sharedBytes;
  if (offset + bytes > size)
    fail((isWrite ? "writes " : "reads ") + std::to_string(bytes) + " bytes at " + std::to_string(offset) + " of " + std::to_string(size) +
         " bytes of shared memory");
  if (int64_t other = races.access(running, thread().time, offset, bytes, isWrite); other >= 0)
    fail((isWrite ? "writes byte " : "reads byte ") + std::to_string(offset) + " of shared memory, which thread " + std::to_string(other) +
         (other == running ? " and others have" : " has") + " accessed without a barrier between");
}

// A kernel's access outside of all memory ends the launch, not the program.
static sigjmp_buf faultReturn;
static void *faultAddress;

static void onFault(int, siginfo_t *info, void *) {
  faultAddress = info->si_addr;
  siglongjmp(faultReturn, 1);
}

/// Runs the blocks |places| in this order, until one has a problem. A place is the linear number of a block in the
/// grid; the x coordinate varies fastest. Returns the same as runLaunch.
static std::string runBlocks(const Launch &launch, const std::vector<uint64_t> &places) {
  Block block(launch);
  for (uint64_t number : places) {
    uint32_t place[3] = {static_cast<uint32_t>(number % launch.grid[0]), static_cast<uint32_t>(number / launch.grid[0] % launch.grid[1]),
                         static_cast<uint32_t>(number / launch.grid[0] / launch.grid[1])};
    std::string problem;
    if (sigsetjmp(faultReturn, 1) == 0) {
      problem = block.run(place);
    } else {
      char text[64];
      std::snprintf(text, sizeof(text), ": illegal address %p", faultAddress);
      problem = "thread " + std::to_string(block.threadNumber()) + text;
    }
    if (!problem.empty())
      return "kernel '" + std::string(launch.kernel->name) + "', block " + std::to_string(place[0]) + ", " + std::to_string(place[1]) +
             ", " + std::to_string(place[2]) + ", " + problem;
  }
  return "";
}

std::string fake::runLaunch(const Launch &launch) {
  std::vector<uint64_t> places(uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2]);
  std::iota(places.begin(), places.end(), 0);
  if (Settings::get().random) {
    uint32_t seed = Settings::get().seed + 1;
    for (size_t i = places.size(); i > 1; --i)
      std::swap(places[i - 1], places[(seed = seed * 1664525u + 1013904223u) % i]);
  }
  static char signalStack[64 << 10];
  stack_t stack{}, oldStack;
  stack.ss_sp = signalStack;
  stack.ss_size = sizeof(signalStack);
  sigaltstack(&stack, &oldStack);
  struct sigaction action{}, oldSegv, oldBus;
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, &oldSegv);
  sigaction(SIGBUS, &action, &oldBus);
  std::string problem = runBlocks(launch, places);
  sigaction(SIGSEGV, &oldSegv, nullptr);
  sigaction(SIGBUS, &oldBus, nullptr);
  sigaltstack(&oldStack, nullptr);
  return problem;
}
