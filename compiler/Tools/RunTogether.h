//===- RunTogether.h - Runs work on several threads at once ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs work on several threads at the same time. The rate of a machine with N threads is reached only while all N run,
// so PeakRate and ReadRate measure this way.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_RUNTOGETHER_H
#define ATTUNE_COMPILER_TOOLS_RUNTOGETHER_H

#include <cstdint>
#include <functional>

namespace attune {

/// Calls |work|(0) … |work|(threads - 1), each in a thread of its own, pinned to the CPUs of the affinity mask in turn.
/// All threads start the work at the same time. Returns the seconds from then until the last call has
/// returned; infinity, without a call of |work|, if the system cannot start so many threads.
double runTogether(int64_t threads, const std::function<void(int64_t)> &work);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_RUNTOGETHER_H
