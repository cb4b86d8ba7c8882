//===- Listener.cpp - Progress and messages of the compiler ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Tools/CompilerCommands.h"

#include <chrono>
#include <cstdio>
#include <unistd.h>

using namespace attune;

void attune::showProgress(const char *what, uint64_t done, uint64_t total) {
  static const bool terminal = isatty(STDERR_FILENO);
  static uint64_t shown = ~uint64_t(0);
  // Shows nothing for small models: the work would end before a user could read the line.
  if (!terminal || isQuiet() || total < (uint64_t(64) << 20))
    return;
  uint64_t percent = done * 100 / total;
  if (percent == shown)
    return;
  shown = percent;
  if (done >= total)
    std::fprintf(stderr, "\r\033[K");
  else
    std::fprintf(stderr, "\r%s: %llu %%", what, static_cast<unsigned long long>(percent));
  std::fflush(stderr);
}

void attune::showTimeLeft(const char *what, uint64_t done, uint64_t total) {
  using Clock = std::chrono::steady_clock;
  static const bool terminal = isatty(STDERR_FILENO);
  static const Clock::time_point start = Clock::now();
  static Clock::time_point shown = start;
  Clock::time_point now = Clock::now();
  if (!terminal || isQuiet() || (done < total && now - shown < std::chrono::milliseconds(500)))
    return;
  shown = now;
  if (done >= total) {
    std::fprintf(stderr, "\r\033[K");
  } else {
    double left = std::chrono::duration<double>(now - start).count() / static_cast<double>(done) * static_cast<double>(total - done);
    std::fprintf(stderr, "\r\033[K%s: %llu %%, %.0f s left", what, static_cast<unsigned long long>(done * 100 / total), left);
  }
  std::fflush(stderr);
}

std::function<void(uint64_t, uint64_t)> attune::forEachPercent(std::function<void(uint64_t, uint64_t)> show) {
  return [show = std::move(show), shown = ~uint64_t(0)](uint64_t done, uint64_t total) mutable {
    uint64_t percent = total ? done * 100 / total : 100;
    if (percent != shown)
      show(done, total);
    shown = percent;
  };
}

CompileListener attune::createListener() {
  CompileListener listener;
  listener.warning = [](const std::string &message) { reportWarning("attune", message); };
  listener.notice = [](const std::string &message) { reportNotice("attune", message); };
  if (isatty(STDERR_FILENO))
    listener.waiting = listener.notice;
  listener.packing = [](uint64_t done, uint64_t total) { showProgress("packing", done, total); };
  listener.calibrating = [](uint64_t done, uint64_t total) { showTimeLeft("calibrating", done, total); };
  return listener;
}
