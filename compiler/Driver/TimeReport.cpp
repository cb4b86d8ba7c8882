//===- TimeReport.cpp - The time of the steps of a compilation ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/TimeReport.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <sys/resource.h>

using namespace attune;

/// Returns the number, in KiB, in the line of /proc/self/status that begins with |key|; 0 if there is no such line.
static uint64_t readMemory(const char *key) {
  uint64_t value = 0;
  if (FILE *file = std::fopen("/proc/self/status", "re")) {
    char line[256];
    while (std::fgets(line, sizeof(line), file))
      if (std::strncmp(line, key, std::strlen(key)) == 0) {
        unsigned long long number = 0;
        std::sscanf(line + std::strlen(key), " %llu", &number);
        value = number;
      }
    std::fclose(file);
  }
  return value;
}

TimeReport::Clock TimeReport::now() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](const timeval &time) { return time.tv_sec + time.tv_usec * 1e-6; };
  return {std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(),
          seconds(usage.ru_utime) + seconds(usage.ru_stime)};
}

void TimeReport::finish(const std::string &step, bool counted) {
  Clock end = now();
  steps.push_back({step, end.wall - last.wall, end.cpu - last.cpu, counted});
  last = end;
  peakAnonymousKiB = std::max(peakAnonymousKiB, readMemory("RssAnon:"));
}

std::string TimeReport::format() const {
  std::string text;
  char line[128];
  auto add = [&](const std::string &name, double wall, double cpu) {
    std::snprintf(line, sizeof(line), "  %-22s %8.3f s wall %8.3f s cpu\n", name.c_str(), wall, cpu);
    text += line;
  };
  double wall = 0, cpu = 0;
  for (const Step &step : steps) {
    if (step.counted) {
      add(step.name, step.wall, step.cpu);
      wall += step.wall;
      cpu += step.cpu;
    }
  }
  add("phases together", wall, cpu);
  for (const Step &step : steps)
    if (!step.counted)
      add(step.name, step.wall, step.cpu);
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  std::snprintf(line, sizeof(line), "  memory: %.1f MiB anonymous, %.1f MiB peak resident\n", peakAnonymousKiB / 1024.0,
                usage.ru_maxrss / 1024.0);
  return text + line;
}
