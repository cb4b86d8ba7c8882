//===- Serve.cpp - The command loop of a worker -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "bench/worker/Worker.h"
#include "compiler/Tools/PeakRate.h"
#include "compiler/Tools/ReadRate.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>

using namespace attune;
using namespace attune::bench;

/// Returns the milliseconds of each of the calls that fit into |seconds|. The first call is not timed: it fills the
/// CPU's caches, which the other side of the comparison has used meanwhile, and wakes the workers.
static Result<Json> timeCalls(Subject &subject, double seconds) {
  constexpr size_t fewest = 2;
  Json times = Json::array();
  if (Status status = subject.run(); status.failed())
    return status;
  for (Clock::time_point start = Clock::now(); times.size() < fewest || since(start) < seconds;) {
    Clock::time_point begin = Clock::now();
    if (Status status = subject.run(); status.failed())
      return status;
    times.push_back(since(begin) * 1e3);
  }
  return Json{{"ms", times}};
}

static Result<Json> saveOutput(Subject &subject, const std::string &path) {
  Result<std::vector<float>> values = subject.output();
  if (!values)
    return values.status();
  std::FILE *file = std::fopen(path.c_str(), "wb");
  bool written = file && std::fwrite(values->data(), sizeof(float), values->size(), file) == values->size();
  if ((file && std::fclose(file) != 0) || !written)
    return Status::error(path + ": cannot be written");
  return Json{{"elements", values->size()}};
}

/// Calls |obey|(first word, rest) for each line of standard input and prints its answer.
template <typename Obey>
static void answerLines(Obey obey) {
  for (std::string line; std::getline(std::cin, line);) {
    size_t space = line.find(' ');
    Result<Json> answer = obey(line.substr(0, space), space == std::string::npos ? std::string() : line.substr(space + 1));
    Json shown = answer ? *answer : Json{{"error", answer.message()}};
    std::printf("%s\n", shown.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
    std::fflush(stdout);
  }
}

void attune::bench::serve(Subject &subject) {
  answerLines([&](const std::string &word, const std::string &rest) -> Result<Json> {
    if (word == "run")
      return timeCalls(subject, std::atof(rest.c_str()));
    if (word == "output")
      return saveOutput(subject, rest);
    return Status::error("unknown command '" + word + "'");
  });
}

void attune::bench::serveSessions(std::vector<EntryCall> &calls) {
  answerLines([&](const std::string &word, const std::string &rest) -> Result<Json> {
    if (word == "run")
      return runSessions(calls, std::atof(rest.c_str()));
    return Status::error("unknown command '" + word + "'");
  });
}

void attune::bench::serveMachine(int64_t threads) {
  ReadRate memory;
  answerLines([&](const std::string &word, const std::string &rest) -> Result<Json> {
    if (word != "run")
      return Status::error("unknown command '" + word + "'");
    double seconds = std::atof(rest.c_str()), gflops = 0, bytes = 0, read = 0;
    Clock::time_point start = Clock::now();
    do {
      gflops = std::max(gflops, measurePeakGflops(threads));
      bytes = std::max(bytes, measurePeakByteGops(threads));
      read = std::max(read, memory.measure(threads));
    } while (since(start) < seconds);
    return Json{{"gflops", gflops}, {"byte_gops", bytes}, {"read_bytes_per_s", read}};
  });
}
