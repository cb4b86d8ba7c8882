//===- RunPhase.h - The command run on IR of a phase ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_RUNPHASE_H
#define ATTUNE_COMPILER_TOOLS_RUNPHASE_H

#include "compiler/Pipelines/Pipelines.h"
#include "compiler/Tools/Flags.h"

namespace attune {

/// The flags of `attune run` that choose a phase: --from-phase, --f64 (|wide|) and --signature. |signature| is the path
/// of IR of the phase `bufferized` or `vector`, "" for none. It describes the entries of a file of the phase `target`
/// or `llvm`, which does not describe them itself.
struct PhaseRunFlags {
  std::optional<Phase> phase;
  bool wide = false;
  std::string signature;

  void addTo(FlagTable &flags);
};

/// Returns true if |arguments| of `attune run` have the flag --from-phase before a "--".
bool asksForPhase(const std::vector<std::string> &arguments);
/// Executes `attune run --from-phase=PHASE`. Returns the exit status.
int runPhaseCommand(const std::vector<std::string> &arguments);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_RUNPHASE_H
