//===- PlainRequest.h - One call of an entry --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PLAIN_PLAINREQUEST_H
#define ATTUNE_COMPILER_PLAIN_PLAINREQUEST_H

#include "compiler/Support/SafetensorsWriter.h"

#include <map>

namespace attune {

/// The contents of the caches of a session, by the names of the caches. Empty before the first call.
using PlainCaches = std::map<std::string, OwnedTensor>;

/// One call of an entry.
struct PlainRequest {
  std::string entry = "forward";
  /// The given inputs, each with its name. Floats are converted to F32, or to F64 with PlainOptions::wide, and integers
  /// to I64.
  std::vector<OwnedTensor> inputs;
  /// |past| is the number of tokens that each slot has before the call, |source| the number of encoder states of each
  /// source.
  int64_t past = 0, source = 0;
  /// The number of tokens for which each slot of the caches has room, rounded up to whole panels. Only used by the call
  /// that creates the caches.
  int64_t capacity = 0;
};

} // namespace attune

#endif // ATTUNE_COMPILER_PLAIN_PLAINREQUEST_H
