//===- SystemError.h - Errors of system calls on files --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTUNE_COMPILER_SUPPORT_SYSTEMERROR_H
#define ATTUNE_COMPILER_SUPPORT_SYSTEMERROR_H

#include "compiler/Support/Status.h"

namespace attune {

/// Returns the error "PATH: cannot ACTION: reason" for the current errno. A file that became too large for the limit of
/// the process is reported with the limit.
Status systemError(const std::string &path, const char *action);

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_SYSTEMERROR_H
