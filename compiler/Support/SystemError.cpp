//===- SystemError.cpp - Errors of system calls on files ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/Support/SystemError.h"

#include <cerrno>
#include <cstring>
#include <sys/resource.h>

using namespace attune;

Status attune::systemError(const std::string &path, const char *action) {
  int error = errno;
  std::string text = path + ": cannot " + action + ": " + std::strerror(error);
  struct rlimit limit;
  if (error == EFBIG && ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    text += " (the limit for files, ulimit -f, is " + std::to_string(limit.rlim_cur) + " bytes)";
  return Status::error(text);
}
