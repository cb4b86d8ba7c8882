//===- RunTogether.cpp - Runs work on several threads at once -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Tools/RunTogether.h"

#include <atomic>
#include <chrono>
#include <sched.h>
#include <thread>
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

double attune::runTogether(int64_t threads, const std::function<void(int64_t)> &work) {
  using Clock = std::chrono::steady_clock;
  std::vector<int> cpus = affinityCpus();
  std::atomic<int64_t> ready{0};
  std::atomic<bool> go{false};
  std::vector<std::thread> workers;
  for (int64_t i = 0; i < threads; ++i)
    workers.emplace_back([&, i] {
      if (!cpus.empty())
        pinTo(cpus[static_cast<size_t>(i) % cpus.size()]);
      ready.fetch_add(1);
      while (!go.load(std::memory_order_acquire))
        std::this_thread::yield();
      work(i);
    });
  while (ready.load() < threads)
    std::this_thread::yield();
  Clock::time_point start = Clock::now();
  go.store(true, std::memory_order_release);
  for (std::thread &worker : workers)
    worker.join();
  return std::chrono::duration<double>(Clock::now() - start).count();
}
