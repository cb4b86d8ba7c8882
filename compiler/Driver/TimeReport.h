//===- TimeReport.h - Time of the steps of a compilation --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_DRIVER_TIMEREPORT_H
#define ATTUNE_COMPILER_DRIVER_TIMEREPORT_H

#include <cstdint>
#include <string>
#include <vector>

namespace attune {

/// The wall-clock and CPU seconds of consecutive named steps.
class TimeReport {
public:
  TimeReport() { last = now(); }

  /// Ends the step |step|, which began at the previous call of this function or, for the first step, at the
  /// construction. The total includes the step if |counted| is true, as for the phases of a compilation.
  void finish(const std::string &step, bool counted = true);
  /// Returns a table of the steps, the total, and two sizes of the process's memory in MiB: the most anonymous memory
  /// seen at the end of a step, and the peak resident size.
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
