//===- HostMemory.cpp - Host memory that copies read and write --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "HostMemory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/uio.h>
#include <unistd.h>

using namespace attune::fake;

/// Copies |bytes| bytes by a system call, which fails for memory that is not mapped instead of ending the program.
/// Returns false if some of the memory is not mapped. Where the system call is not available, copies without this
/// check.
static bool copyChecked(void *to, const void *from, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    iovec local{static_cast<char *>(to) + done, bytes - done};
    iovec remote{const_cast<char *>(static_cast<const char *>(from)) + done, bytes - done};
    ssize_t copied = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
    if (copied < 0 && (errno == ENOSYS || errno == EPERM)) { // not allowed in some containers
      std::memcpy(to, from, bytes);
      return true;
    }
    if (copied <= 0)
      return false;
    done += static_cast<size_t>(copied);
  }
  return true;
}

static std::string describe(size_t bytes, const void *data) {
  char text[64];
  std::snprintf(text, sizeof(text), "%zu bytes of host memory at %p", bytes, data);
  return text;
}

std::string HostSource::read(void *out, bool mayChange) const {
  std::string now(expected.size(), 0);
  if (!copyChecked(now.data(), data, now.size()))
    return "a copy to the GPU comes too late: the " + describe(now.size(), data) + " are gone";
  if (!mayChange && now != expected) {
    size_t at = static_cast<size_t>(std::mismatch(now.begin(), now.end(), expected.begin()).first - now.begin());
    return "a copy to the GPU comes too late: the " + describe(now.size(), data) + " have changed since it was queued, at byte " +
           std::to_string(at);
  }
  std::memcpy(out, now.data(), now.size());
  return "";
}

std::string attune::fake::writeHost(void *to, const void *data, size_t bytes) {
  return copyChecked(to, data, bytes) ? "" : "a copy from the GPU comes too late: the " + describe(bytes, to) + " are gone";
}
