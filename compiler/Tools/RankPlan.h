//===- RankPlan.h - A model of the speed of several ranks -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Estimates the time of calls of a model that is divided among ranks, one on each host. The work of a rank is read from
// the IR: compilation records formulas of arithmetic and gathers, and the bytes to read are those of the packed weights
// and of the caches. docs/scale.md has the formulas and what they leave out.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_RANKPLAN_H
#define ATTUNE_COMPILER_TOOLS_RANKPLAN_H

#include "compiler/Driver/CompileOptions.h"

#include <optional>
#include <string>
#include <vector>

namespace attune {

/// A host and its link. All hosts are equal; a switch between them carries all links at their full rate.
struct HostRates {
  double gflops = 0;         // 10^9 operations of matrix products per second
  double readGigabytes = 0;  // 10^9 bytes of weights and caches per second
  double linkGigabits = 0;   // 10^9 bits per second, in each direction
  double messageLatency = 0; // microseconds of a small message between two hosts
};

/// The sizes of the calls: |length| tokens of each of |batch| prompts, then one token after |past| tokens. |length| and
/// |past| default to kLength and kPast or, if the model accepts fewer tokens, to as many as it accepts.
struct PlannedSizes {
  static constexpr int64_t kLength = 128, kPast = 1024;
  int64_t batch = 1;
  std::optional<int64_t> length, past;
};

/// The communication of one call, summed over its exchanges.
struct Traffic {
  double exchanges = 0; // collective operations
  double bytes = 0;     // received by a rank
  double seconds = 0;
};

/// One call of an entry, on one rank.
struct PlannedCall {
  std::string entry;
  /// Tokens of all sequences.
  int64_t tokens = 0;
  double flops = 0, weightBytesRead = 0, cacheBytesRead = 0;
  double arithmeticSeconds = 0, readSeconds = 0;
  /// The communication of the compiled model, and that of a model divided in the usual way, which adds partial sums by
  /// all-reduce.
  Traffic gathers, allReduce;

  /// Arithmetic and reads overlap, exchanges overlap with neither.
  double workSeconds() const { return arithmeticSeconds > readSeconds ? arithmeticSeconds : readSeconds; }
  double seconds() const { return workSeconds() + gathers.seconds; }
  double allReduceSeconds() const { return workSeconds() + allReduce.seconds; }
};

struct RankPlan {
  int64_t ranks = 1;
  /// Memory of a rank in bytes: its weights file, and caches that hold the longest sequences of the plan.
  double weightBytes = 0, cacheBytes = 0;
  /// Prefill and decoding step of a language model, otherwise the first entry alone.
  std::vector<PlannedCall> calls;
};

/// Plans the model of |options|, whose weights are not read and need not exist. Fails if the model does not accept
/// |sizes|.
Result<RankPlan> planRanks(const CompileOptions &options, const HostRates &rates, const PlannedSizes &sizes);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_RANKPLAN_H
