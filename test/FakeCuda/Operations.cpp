//===- Operations.cpp - Finding the handlers of operations ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Operations.h"
#include "DeviceMemory.h"

using namespace attune;
using namespace attune::fake;

Handler fake::findHandler(const char *name) {
  for (const HandlerEntry *table :
       {asyncCopyHandlers, memoryBarrierHandlers, warpgroupHandlers, matrixHandlers, warpHandlers, arithmeticHandlers})
    for (const HandlerEntry *entry = table; entry->piece; ++entry)
      if (std::strstr(name, entry->piece))
        return entry->handler;
  return nullptr;
}

extern "C" __attribute__((visibility("default"))) void attune_emulate(emulated::Operation *operation, const uint64_t *inputs,
                                                                      uint64_t *outputs) {
  reinterpret_cast<Handler>(operation->handler)(*operation, inputs, outputs);
}

extern "C" __attribute__((visibility("default"))) void attune_emulate_access(const void *data, uint64_t bytes, uint32_t kind) {
  Block &block = Block::current();
  uint64_t offset;
  if (block.isShared(data, offset)) {
    if (kind < 2) // atomic operations do not race
      block.checkShared(data, bytes, kind == 1);
    return;
  }
  std::string problem = DeviceMemory::get().describeAccess(data, bytes);
  if (!problem.empty())
    block.fail((kind == 0 ? "reads " : "writes ") + problem);
}

/// Rounds a float to bf16 for code that LLVM has compiled, which calls this function by name. The result is in the low
/// 16 bits of the register in which functions return floats.
extern "C" __attribute__((visibility("default"))) float __truncsfbf2(float value) { return toFloat(toBf16(value)); }
