//===- DriverCall.cpp - The state of the fake driver -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "DriverCall.h"
#include "Settings.h"

using namespace attune;
using namespace attune::cuda;
using namespace attune::fake;

thread_local std::vector<Context> attune::fake::contexts;

State &State::get() {
  static State *state = new State;
  return *state;
}

Call::Call(const char *name, bool needsContext) : state(State::get()), lock(state.mutex) {
  const Settings &settings = Settings::get();
  uint32_t number = ++state.calls[name];
  if (settings.failing == name && settings.failingCall == number)
    code = settings.failingCode;
  else if (!state.isInitialized && std::string(name) != "cuInit")
    code = notInitialized;
  else if (needsContext && contexts.empty())
    code = invalidContext;
  else if (needsContext)
    code = state.error;
  if (settings.log) {
    std::fprintf(settings.log, "%s\n", name);
    std::fflush(settings.log);
  }
}
void Call::enqueue(std::function<void()> work) {
  if (Settings::get().lazy)
    state.queue.push_back(std::move(work));
  else
    work();
}

Code Call::drain() {
  for (auto &work : state.queue)
    if (state.error == success)
      work();
  state.queue.clear();
  return state.error;
}

bool attune::fake::isDevice(Address address, size_t bytes) {
  return DeviceMemory::get().isAllocated(reinterpret_cast<void *>(address), bytes);
}
bool attune::fake::isHost(const void *data) { return data && !DeviceMemory::get().contains(data); }
