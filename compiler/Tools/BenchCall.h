//===- BenchCall.h - The calls that bench times ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_BENCHCALL_H
#define ATTUNE_COMPILER_TOOLS_BENCHCALL_H

#include "compiler/Tools/EntryCall.h"

#include <sched.h>

namespace attune {

/// A guard that, if |wanted|, pins the calling thread to the CPU on which the thread runs at the moment. Does nothing
/// if the system refuses. The destructor restores the affinity mask.
class PinnedThread {
public:
  explicit PinnedThread(bool wanted);
  ~PinnedThread();
  PinnedThread(const PinnedThread &) = delete;

private:
  cpu_set_t saved;
  bool pinned = false;
};

/// Returns values for every required input of |entry| at |dims|, the values of the entry's dimensions. Every call
/// returns the same values: random floats from -1 to 1, random ids, and masks in which everything is visible. Optional
/// inputs keep their defaults. Fails if an input has more than 2^40 elements.
Result<std::vector<OwnedTensor>> randomInputs(const attune_entry_desc &entry, const std::vector<int64_t> &dims);

/// Runs |call| three times untimed, then |repeat| times, and returns the time of each repetition in milliseconds, the
/// shortest first. With |repeat| 0 it repeats for about two seconds, but at least 10 and at most 2000 times.
Result<std::vector<double>> timeCall(EntryCall &call, int64_t repeat);

/// Returns the percentile by the nearest rank: the smallest of |times| for which at least |percent| percent of them are
/// less or equal. |times| must be sorted, the shortest first, and not empty.
double percentile(const std::vector<double> &times, double percent);

/// Returns the numbers of tokens that the caches hold before each call, for |dims|, the values of the entry's
/// dimensions: past tokens in each slot and tokens in each source, 0 if |entry| has no such dimension.
EntryCall::Cached cachedOf(const attune_entry_desc &entry, const std::vector<int64_t> &dims);

/// Returns the size in bytes of the cached keys, values and masks that one call of |entry| at |dims| reads; 0 for an
/// entry that does not read caches.
double cacheBytesRead(const attune_model_desc &desc, const attune_entry_desc &entry, const std::vector<int64_t> &dims);

/// Returns the number of tokens of one call: batch * length; batch * source_length for an entry without a length, such
/// as `encode`; batch for an entry that takes one token of each sequence, such as `decode`. A dimension that |entry|
/// lacks counts as 1.
double tokensOf(const attune_entry_desc &entry, const std::vector<int64_t> &dims);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_BENCHCALL_H
