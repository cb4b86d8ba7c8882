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

/// Returns true if this process is one of several ranks: a launcher of MPI has started it together with others, or
/// ATTUNE_TRANSPORT is set.
bool areStarted();

/// Connects this process with the other ranks, unless it is connected. Standard output of all ranks but rank 0 is
/// discarded from then on. Fails if no transport can be loaded or connected, or if ATTUNE_RANKS_TIMEOUT is wrong.
Result<attune_transport *> join();

/// Returns true for rank 0, and for a process that has not joined other ranks.
bool isFirst();

/// Succeeds if |own| of every rank is a success; else returns the error of the first rank that has one, with the number
/// of the rank unless all ranks have the same error. Returns |own| if this process is alone or after inspectOnly. Also
/// fails if the ranks cannot be connected. All ranks must call this function.
Status agree(const Status &own);

/// Succeeds if the model of |desc| is the same on all ranks and is divided among as many ranks as were started, or if
/// this process is alone or after inspectOnly. All ranks must call this function.
Status agreeOnModel(const attune_model_desc &desc);

/// Returns |decision| of rank 0; |decision| of this process if it has not joined other ranks or the exchange fails. All
/// ranks must call this function.
bool decide(bool decision);

/// From now on, models are opened only to inspect them, without the other ranks.
void inspectOnly();
bool isInspecting();

/// Returns true if this rank is to print the error |message|. Joins the other ranks if this was not tried before; if
/// they cannot be joined, adds the reason to |message|. If not all ranks know the error, adds the number of this rank.
/// reportError calls this function before it prints.
bool printsError(std::string &message);
/// Ends all ranks with |status|, and does not return, if this process has joined other ranks and they do not know its
/// error. Otherwise returns. reportError calls this function after it has printed.
void endAfterError(int status);

/// Waits for the other ranks, and ends the connection with them. runTool calls this function at the end of the process.
void leave();

} // namespace attune::ranks

#endif // ATTUNE_COMPILER_TOOLS_TOOLRANKS_H
