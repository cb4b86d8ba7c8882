//===- Error.cpp - Failure messages of the calling thread -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Error.h"

#include <cstdarg>
#include <cstdint>
#include <cstdio>

/// The message of the last failure. It has room for two paths of usual length; longer messages are cut.
static thread_local char lastError[1024];

attune_status attune::fail(attune_status status, const char *format, ...) {
  // Arguments may point into the old message, so the new one is written to a buffer first.
  char message[sizeof(lastError)];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof(message), format, args);
  va_end(args);
  __builtin_memcpy(lastError, message, sizeof(message));
  return status;
}

const char *attune_last_error(void) { return lastError; }

const char *attune_status_name(attune_status status) {
  // A caller may pass a number that is no enumerator; reading that as an enumeration is undefined behavior.
  uint32_t number;
  static_assert(sizeof(number) == sizeof(status), "attune_status");
  __builtin_memcpy(&number, &status, sizeof(number));
  switch (number) {
  case ATTUNE_OK:
    return "ATTUNE_OK";
  case ATTUNE_INVALID_ARGUMENT:
    return "ATTUNE_INVALID_ARGUMENT";
  case ATTUNE_NOT_FOUND:
    return "ATTUNE_NOT_FOUND";
  case ATTUNE_IO_ERROR:
    return "ATTUNE_IO_ERROR";
  case ATTUNE_CORRUPT:
    return "ATTUNE_CORRUPT";
  case ATTUNE_INCOMPATIBLE:
    return "ATTUNE_INCOMPATIBLE";
  case ATTUNE_LIMIT_EXCEEDED:
    return "ATTUNE_LIMIT_EXCEEDED";
  case ATTUNE_OUT_OF_MEMORY:
    return "ATTUNE_OUT_OF_MEMORY";
  case ATTUNE_BUSY:
    return "ATTUNE_BUSY";
  case ATTUNE_INTERNAL:
    return "ATTUNE_INTERNAL";
  case ATTUNE_DEVICE_ERROR:
    return "ATTUNE_DEVICE_ERROR";
  }
  return "unknown status";
}
