//===- RunTogether.cpp - Runs work on several threads at once -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Tools/RunTogether.h"

#include <atomic>
#include <chrono>
#include <limits>
#include <pthread.h>
#include <sched.h>
#include <vector>

using namespace attune;

/// Returns the CPUs of the affinity mask of this thread.
static std::vector<int> affinityCpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set))
        cpus.push_back(cpu);
  return cpus;
}

static void pinTo(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof(set), &set);
}

namespace {
/// The state that the threads of one call of runTogether share. The signal Leave ends a thread without a call of
/// |work|.
struct Gathering {
  enum Signal { Wait, Start, Leave };

  const std::function<void(int64_t)> &work;
  std::vector<int> cpus = affinityCpus();
  std::atomic<int64_t> ready{0};
  std::atomic<Signal> signal{Wait};
};

/// A thread of runTogether. A pthread, because std::thread throws if the system cannot start a thread.
struct Worker {
  Gathering *gathering = nullptr;
  int64_t index = 0;
  pthread_t thread = {};
};
} // namespace

static void *runWorker(void *argument) {
  const auto &[gathering, index, thread] = *static_cast<Worker *>(argument);
  if (!gathering->cpus.empty())
    pinTo(gathering->cpus[static_cast<size_t>(index) % gathering->cpus.size()]);
  gathering->ready.fetch_add(1);
  Gathering::Signal signal;
  while ((signal = gathering->signal.load(std::memory_order_acquire)) == Gathering::Wait)
    sched_yield();
  if (signal == Gathering::Start)
    gathering->work(index);
  return nullptr;
}

double attune::runTogether(int64_t threads, const std::function<void(int64_t)> &work) {
  using Clock = std::chrono::steady_clock;
  Gathering gathering{work};
  std::vector<Worker> workers(static_cast<size_t>(threads));
  int64_t started = 0;
  for (Worker &worker : workers) {
    worker.gathering = &gathering;
    worker.index = started;
    if (pthread_create(&worker.thread, nullptr, runWorker, &worker) != 0)
      break;
    ++started;
  }
  while (gathering.ready.load() < started)
    sched_yield();
  Clock::time_point start = Clock::now();
  gathering.signal.store(started == threads ? Gathering::Start : Gathering::Leave, std::memory_order_release);
  for (int64_t i = 0; i < started; ++i)
    pthread_join(workers[static_cast<size_t>(i)].thread, nullptr);
  if (started < threads)
    return std::numeric_limits<double>::infinity();
  return std::chrono::duration<double>(Clock::now() - start).count();
}
