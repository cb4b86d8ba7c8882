//===- PlainRequest.h - One call of an entry --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PLAIN_PLAINREQUEST_H
#define ATTUNE_COMPILER_PLAIN_PLAINREQUEST_H

#include "compiler/Support/SafetensorsWriter.h"

#include <map>

namespace attune {

/// The contents of the caches of a session, by name. Empty before the first call.
using PlainCaches = std::map<std::string, OwnedTensor>;

/// One call of an entry.
struct PlainRequest {
  std::string entry = "forward";
  /// Tensors by the names of inputs. Floats become F32 (F64 if wide), integers I64.
  std::vector<OwnedTensor> inputs;
  /// The number of tokens in each slot before the call, and the number of encoder states of each source.
  int64_t past = 0, source = 0;
  /// The number of tokens that the caches have room for; used at the first call.
  int64_t capacity = 0;
};

} // namespace attune

#endif // ATTUNE_COMPILER_PLAIN_PLAINREQUEST_H
