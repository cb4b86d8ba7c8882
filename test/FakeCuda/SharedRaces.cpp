//===- SharedRaces.cpp - Unordered accesses to shared memory ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "SharedRaces.h"

using namespace attune::fake;

bool SharedRaces::races(const Access &earlier, uint32_t thread, ThreadTime time) {
  if (earlier.thread == none || earlier.thread == thread || earlier.time.block != time.block)
    return false;
  return earlier.warp != thread / 32 || earlier.time.warp >= time.warp;
}

int64_t SharedRaces::access(uint32_t thread, ThreadTime time, uint64_t offset, uint64_t count, bool isWrite) {
  for (uint64_t i = offset; i < offset + count && i < bytes.size(); ++i) {
    Byte &byte = bytes[i];
    if (races(byte.write, thread, time))
      return byte.write.thread;
    if (isWrite && races(byte.read, thread, time))
      return byte.read.thread == several ? thread : byte.read.thread;
    Access &own = isWrite ? byte.write : byte.read;
    bool isMore = !isWrite && own.thread != none && own.thread != thread && own.time.block == time.block;
    own = {isMore ? several : thread, isMore && own.warp != thread / 32 ? several : thread / 32, time};
  }
  return -1;
}
