//===- Sessions.cpp - Concurrent sessions -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "bench/worker/Worker.h"
#include "compiler/Tools/EntryCall.h"

#include <algorithm>
#include <atomic>
#include <ctime>
#include <thread>

using namespace attune;
using namespace attune::bench;

/// Returns the CPU time of all threads of this process.
static double cpuSeconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Runs |call| once untimed, increments |ready| and waits until |phase| is not 0. Then runs |call| again and again while
/// |phase| is 1. Returns the milliseconds of each of these calls.
static std::vector<double> callUntil(EntryCall &call, std::atomic<int> &ready, const std::atomic<int> &phase) {
  std::vector<double> times;
  bool ok = !call.run().failed();
  ready.fetch_add(1);
  while (phase.load() == 0)
    std::this_thread::yield();
  while (ok && phase.load() == 1) {
    Clock::time_point begin = Clock::now();
    ok = !call.run().failed();
    times.push_back(since(begin) * 1e3);
  }
  return times;
}

Result<Json> attune::bench::runSessions(std::vector<EntryCall> &calls, double seconds) {
  std::atomic<int> ready{0}, phase{0};
  std::vector<std::vector<double>> times(calls.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < calls.size(); ++i)
    threads.emplace_back([&, i] { times[i] = callUntil(calls[i], ready, phase); });
  while (ready.load() < static_cast<int>(calls.size()))
    std::this_thread::yield();
  Clock::time_point start = Clock::now();
  double cpu = cpuSeconds();
  phase.store(1);
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  phase.store(2);
  for (std::thread &thread : threads)
    thread.join();
  double wall = since(start);
  cpu = cpuSeconds() - cpu;
  std::vector<double> all;
  for (const std::vector<double> &list : times) {
    if (list.empty())
      return Status::error("a session made no call");
    all.insert(all.end(), list.begin(), list.end());
  }
  std::sort(all.begin(), all.end());
  double count = static_cast<double>(all.size());
  return Json{{"calls_per_s", count / wall}, {"cpu_ms_per_call", cpu / count * 1e3}, {"ms", all}};
}

Result<std::vector<EntryCall>> attune::bench::makeSessions(const Request &request) {
  Result<OpenedModel> model = OpenedModel::open(request);
  if (!model)
    return model.status();
  std::vector<EntryCall> calls;
  for (int64_t i = 0; i < request.sessions; ++i) {
    Result<EntryCall> call = EntryCall::prepare(model->artifact, "", model->inputs(), request.threads);
    if (!call)
      return call.status();
    calls.push_back(std::move(*call));
  }
  return calls;
}
