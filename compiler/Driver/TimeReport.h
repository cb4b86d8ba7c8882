//===- TimeReport.h - Time of the steps of a compilation --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_DRIVER_TIMEREPORT_H
#define ATTUNE_COMPILER_DRIVER_TIMEREPORT_H

#include <cstdint>
#include <string>
#include <vector>

namespace attune {

/// The wall and CPU seconds of consecutive named steps.
class TimeReport {
public:
  TimeReport() { last = now(); }

  /// Ends a step: its time is the time since the last call, or since the construction. Steps that are not phases
  /// (|counted| false) are not part of the total.
  void finish(const std::string &step, bool counted = true);
  /// Returns a table of the steps, the total and the memory: the most anonymous memory seen at the end of a step and
  /// the peak resident size.
  std::string format() const;

private:
  struct Clock {
    double wall, cpu;
  };
  struct Step {
    std::string name;
    double wall, cpu;
    bool counted;
  };
  static Clock now();

  Clock last;
  std::vector<Step> steps;
  uint64_t peakAnonymousKiB = 0;
};

} // namespace attune

#endif // ATTUNE_COMPILER_DRIVER_TIMEREPORT_H
