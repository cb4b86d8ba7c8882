//===- IsolatedRun.h - Executions that may crash ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_BISECT_ISOLATEDRUN_H
#define ATTUNE_COMPILER_BISECT_ISOLATEDRUN_H

#include "compiler/Support/SafetensorsWriter.h"
#include "compiler/Support/Status.h"

#include <functional>

namespace attune {

/// The end of an execution.
struct RunOutcome {
  /// Refused: the module cannot be executed, for |reason|. Crashed: the process ended by a signal or did not end.
  enum Kind { Ran, Refused, Crashed } kind = Refused;
  std::string reason;
  std::vector<OwnedTensor> outputs;
};

/// Calls |work| in a child process, so that a crash or an endless loop of wrong code ends only that.
RunOutcome runIsolated(const std::function<Result<std::vector<OwnedTensor>>()> &work, int64_t secondsLimit = 120);

} // namespace attune

#endif // ATTUNE_COMPILER_BISECT_ISOLATEDRUN_H
