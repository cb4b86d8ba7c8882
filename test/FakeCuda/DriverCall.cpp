//===- DriverCall.cpp - The state of the fake driver -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "DriverCall.h"
#include "Settings.h"

#include <cstdlib>
#include <unistd.h>

using namespace attune;
using namespace attune::cuda;
using namespace attune::fake;

thread_local ContextStack attune::fake::contexts;
thread_local int attune::fake::captureMode = captureModeGlobal;

ContextStack::~ContextStack() {
  if (empty() || gettid() == getpid())
    return;
  std::fprintf(stderr, "fake GPU: a thread ends with %zu contexts that it has pushed and not popped\n", size());
  std::abort();
}

State &State::get() {
  static State *state = new State;
  return *state;
}

void State::fail(const std::string &problem) {
  std::fprintf(stderr, "fake GPU: %s\n", problem.c_str());
  error = problem.find("llegal address") != std::string::npos || problem.find("outside of every") != std::string::npos ? illegalAddress
                                                                                                                       : launchFailed;
}

Call::Call(const char *name, bool needsContext, bool isUnsafe) : state(State::get()), lock(state.mutex) {
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
  if (code == success && isUnsafe && Streams::get().forbidsUnsafeCalls(captureMode)) {
    Streams::get().invalidateCaptures(nullptr);
    code = captureUnsupported;
  }
  if (settings.log) {
    std::fprintf(settings.log, "%s\n", name);
    std::fflush(settings.log);
  }
}

bool Call::isImplicitlyCaptured(Stream stream) {
  if ((stream && stream != reinterpret_cast<Stream>(1)) || !Streams::get().isBlockingCaptured())
    return false;
  Streams::get().invalidateCaptures(nullptr);
  return true;
}

Code Call::enqueue(Stream stream, Work work) {
  if (isImplicitlyCaptured(stream))
    return captureImplicit;
  if (Streams::get().captureStatus(stream) == captureInvalidated)
    return captureInvalid;
  number = Streams::get().enqueue(stream, [this_ = &state, work = std::move(work)] {
    if (this_->error == success)
      work();
  });
  return success;
}

Code Call::drain() {
  Streams::get().finishAll();
  return state.error;
}

bool attune::fake::isDevice(Address address, size_t bytes) {
  return DeviceMemory::get().isAllocated(reinterpret_cast<void *>(address), bytes);
}
bool attune::fake::isHost(const void *data) { return data && !DeviceMemory::get().contains(data); }

bool attune::fake::isAligned(const char *what, Address address) {
  if (address % 16 == 0)
    return true;
  std::fprintf(stderr, "fake GPU: %s at %p of the GPU, which is no multiple of 16\n", what, reinterpret_cast<void *>(address));
  return false;
}
