//===- Ranks.h - The processes that run a divided model -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_RANKS_H
#define ATTUNE_RUNTIME_RANKS_H

#include "attune/runtime.h"

namespace attune {

/// Checks the caller's |ranks| against |desc| and copies them to |out|. If |ranks| is null and |desc| is not divided,
/// sets |out| to a single rank. Fails with INVALID_ARGUMENT if |ranks| does not fit |desc|, or with CORRUPT if |desc|
/// has more than ATTUNE_MAX_RANKS ranks.
attune_status checkRanks(const attune_model_desc &desc, const attune_ranks *ranks, attune_ranks &out);

/// Agrees with the other ranks on a call before any of them runs it. Exchanges three values: |status|, which is the
/// result of the checks of this rank; the number of |entry|; and a hash of the dims and inputs of |call|. Reads |call|
/// only if |status| is ATTUNE_OK. Fails with IO_ERROR if the exchange fails. Otherwise returns |status| if it is an
/// error, else fails with INVALID_ARGUMENT if another rank has an error, another entry, or other dims or inputs.
attune_status agreeOnCall(const attune_ranks &ranks, const attune_model_desc &desc, const attune_entry_desc &entry, const attune_call &call,
                          attune_status status);

} // namespace attune

#endif // ATTUNE_RUNTIME_RANKS_H
