//===- ToolRanks.h - A tool as one of several ranks -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Under mpirun, every rank is a process of the tool with the same arguments. All make the same calls of the model;
// rank 0 prints and writes files. An error that all ranks know (`agree`) is printed by rank 0, and all ranks end as
// usual. A rank with an error of its own prints it and ends the others.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_TOOLRANKS_H
#define ATTUNE_COMPILER_TOOLS_TOOLRANKS_H

#include "attune/ranks.h"
#include "compiler/Support/Status.h"

namespace attune::ranks {

/// Returns true if this process is one of several ranks: a launcher of MPI has started it, or ATTUNE_TRANSPORT is set.
bool areStarted();

/// Connects this process with the other ranks, unless it is connected. Standard output of all ranks but rank 0 is
/// discarded from then on. Fails if no transport can be loaded or connected, or if ATTUNE_RANKS_TIMEOUT is wrong.
Result<attune_transport *> join();

/// Returns true for rank 0, and for a process that is alone.
bool isFirst();

/// Succeeds if |own| of every rank is a success; else returns the error of the first rank that has one, with the number
/// of the rank unless all ranks have the same error. Returns |own| if this process is alone or after inspectOnly. All
/// ranks call it.
Status agree(const Status &own);

/// Succeeds if the model of |desc| is the same on all ranks and is divided among as many ranks as were started, or if
/// this process is alone or after inspectOnly. All ranks call it.
Status agreeOnModel(const attune_model_desc &desc);

/// Returns |decision| of rank 0, or this process's own if it is alone or the exchange fails. All ranks call it.
bool decide(bool decision);

/// From now on, models are opened only to inspect them, without the other ranks.
void inspectOnly();
bool isInspecting();

/// Called with an error before it is printed. Returns true if this rank prints it, and adds the number of the rank to
/// |message| if it is an error of this rank alone.
bool printsError(std::string &message);
/// Called after printsError, when the error has been printed if it was to be. If the other ranks do not know the error,
/// ends all ranks with |status| and does not return.
void endAfterError(int status);

/// Waits for the other ranks, and ends the connection with them. Called at the end of the process.
void leave();

} // namespace attune::ranks

#endif // ATTUNE_COMPILER_TOOLS_TOOLRANKS_H
