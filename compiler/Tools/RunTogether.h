//===- RunTogether.h - Threads that start at the same moment --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rate of a machine with N threads shows only while all N run: the rates of PeakRate and ReadRate are measured this way.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_RUNTOGETHER_H
#define ATTUNE_COMPILER_TOOLS_RUNTOGETHER_H

#include <cstdint>
#include <functional>

namespace attune {

/// Calls |work|(0) … |work|(threads - 1), each in a thread of its own pinned to a CPU of the affinity mask (in turn), all released at the
/// same time. Returns the seconds until the last has returned.
double runTogether(int64_t threads, const std::function<void(int64_t)> &work);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_RUNTOGETHER_H
