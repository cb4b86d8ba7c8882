//===- AsyncCopies.cpp - cp.async --------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On a GPU a copy by cp.async may happen at any time between its start and the wait for its group. Here the copy
// happens at its start or, with the setting `lazy`, at the wait.
//===----------------------------------------------------------------------===//

#include "DeviceMemory.h"
#include "Operations.h"
#include "Settings.h"

#include <algorithm>
#include <cstdlib>

using namespace attune;
using namespace attune::fake;

static void perform(const PendingCopy &copy) {
  std::memcpy(copy.to, copy.from, copy.bytes);
  std::memset(copy.to + copy.bytes, 0, copy.zeros);
}

/// Executes cp.async.ca or cp.async.cg. The inputs are the address to copy to, the address to copy from and,
/// optionally, the number of bytes to read. The rest of the size that the name of the operation gives is filled with
/// zeros.
static void copy(const emulated::Operation &operation, const uint64_t *inputs, uint64_t *) {
  Block &block = Block::current();
  auto size = static_cast<uint32_t>(std::atoi(std::strstr(operation.name, "shared.global.") + std::strlen("shared.global.")));
  uint32_t read = operation.numInputs > 2 ? std::min(size, static_cast<uint32_t>(inputs[2])) : size;
  PendingCopy pending{reinterpret_cast<char *>(inputs[0]), reinterpret_cast<const char *>(inputs[1]), read, size - read};
  if (inputs[0] % size || inputs[1] % size)
    block.fail(std::string("gives '") + operation.name + "' an address that is no multiple of " + std::to_string(size));
  block.checkShared(pending.to, size, /*isWrite=*/true);
  if (Settings::get().watch && read)
    if (std::string problem = DeviceMemory::get().describeAccess(pending.from, read); !problem.empty())
      block.fail("reads " + problem);
  if (Settings::get().lazy)
    block.thread().openCopies.push_back(pending);
  else
    perform(pending);
}

static void commit(const emulated::Operation &, const uint64_t *, uint64_t *) {
  Thread &thread = Block::current().thread();
  thread.copyGroups.push_back(std::move(thread.openCopies));
  thread.openCopies.clear();
}

/// Performs the copies of all committed groups but the latest |left|.
static void finish(Thread &thread, size_t left) {
  while (thread.copyGroups.size() > left) {
    for (const PendingCopy &pending : thread.copyGroups.front())
      perform(pending);
    thread.copyGroups.erase(thread.copyGroups.begin());
  }
}

static void wait(const emulated::Operation &, const uint64_t *inputs, uint64_t *) { finish(Block::current().thread(), inputs[0]); }

static void waitAll(const emulated::Operation &operation, const uint64_t *inputs, uint64_t *outputs) {
  commit(operation, inputs, outputs);
  finish(Block::current().thread(), 0);
}

const HandlerEntry fake::asyncCopyHandlers[] = {{"cp.async.ca.shared.global.", copy}, {"cp.async.cg.shared.global.", copy},
                                                {"cp.async.commit.group", commit},    {"cp.async.wait.group", wait},
                                                {"cp.async.wait.all", waitAll},       {nullptr, nullptr}};
