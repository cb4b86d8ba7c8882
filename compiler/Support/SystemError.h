//===- SystemError.h - Errors of system calls on files --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTUNE_COMPILER_SUPPORT_SYSTEMERROR_H
#define ATTUNE_COMPILER_SUPPORT_SYSTEMERROR_H

#include "compiler/Support/Status.h"

namespace attune {

/// Returns the error "PATH: cannot ACTION: reason" for the current errno. If a file exceeds the limit of the process
/// for the size of files, the error also names the limit.
Status systemError(const std::string &path, const char *action);

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_SYSTEMERROR_H
