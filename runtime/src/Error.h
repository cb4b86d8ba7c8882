//===- Error.h - Failure messages of the calling thread -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime is C++ without the C++ library: C programs link it, so nothing in it may need libstdc++ at link time.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_ERROR_H
#define ATTUNE_RUNTIME_ERROR_H

#include "attune/runtime.h"

namespace attune {

/// Stores the message for attune_last_error and returns |status|, so that callers write `return fail(…)`.
__attribute__((format(printf, 2, 3))) attune_status fail(attune_status status, const char *format, ...);

/// Evaluates |expr|, an attune_status, and returns the status from the enclosing function unless it is ATTUNE_OK.
#define ATTUNE_TRY(expr)                                                                                               \
  do {                                                                                                                 \
    attune_status tryStatus = (expr);                                                                                  \
    if (tryStatus != ATTUNE_OK)                                                                                        \
      return tryStatus;                                                                                                \
  } while (false)

} // namespace attune

#endif // ATTUNE_RUNTIME_ERROR_H
