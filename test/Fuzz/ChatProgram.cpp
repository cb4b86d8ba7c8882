//===- ChatProgram.cpp - Fuzz compiled chat templates ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Input: a compiled template, whose bytes are untrusted. The target renders a conversation by it, with limits on
// memory, output and steps.
//===----------------------------------------------------------------------===//
#include "test/Fuzz/ChatConversation.h"

#include <cstring>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // Sets the size of the program in the header, at byte 8. Otherwise the check of this size would reject nearly every
  // input.
  std::vector<uint64_t> aligned(size / 8 + 1);
  memcpy(aligned.data(), data, size);
  auto length = static_cast<uint32_t>(size);
  if (size >= 12)
    memcpy(reinterpret_cast<char *>(aligned.data()) + 8, &length, sizeof(length));
  attune::fuzz::renderChat(aligned.data(), size);
  return 0;
}
