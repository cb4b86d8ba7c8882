//===- DriverCall.h - The state of the fake driver --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_FAKECUDA_DRIVERCALL_H
#define ATTUNE_TEST_FAKECUDA_DRIVERCALL_H

#include "runtime/src/cuda/Driver.h"
#include "test/FakeCuda/Block.h"
#include "test/FakeCuda/DeviceMemory.h"

#include <functional>
#include <map>
#include <mutex>
#include <vector>

namespace attune::fake {

using namespace attune::cuda;

enum : Code {
  invalidValue = 1,
  notInitialized = 3,
  invalidContext = 201,
  invalidPtx = 218,
  invalidHandle = 400,
  illegalAddress = 700,
  launchFailed = 719
};

struct LoadedFunction {
  const emulated::Image *image;
  const emulated::Kernel *kernel;
  unsigned dynamicLimit = 48 << 10;
};

struct LoadedModule {
  void *library;
  const emulated::Image *image;
  std::vector<LoadedFunction *> functions;
};

/// All there is of the driver; one call at a time.
struct State {
  std::recursive_mutex mutex;
  bool isInitialized = false;
  int retained = 0;
  Code error = success; ///< of a kernel, for good
  std::vector<std::function<void()>> queue;
  std::map<std::string, uint32_t> calls;
  std::map<Module, LoadedModule *> modules;
  std::map<Function, LoadedFunction *> functions;
  std::map<Stream, bool> streams;

  /// Lives as long as whatever uses it.
  static State &get();
};

/// The contexts that this thread has pushed; there is only one to push.
extern thread_local std::vector<Context> contexts;

/// Opens device memory to this program while it lives.
struct OpenMemory {
  OpenMemory() { DeviceMemory::get().open(true); }
  ~OpenMemory() { DeviceMemory::get().open(false); }
};

/// One call of the interface: takes the lock, writes the log, injects failures.
class Call {
public:
  /// Of the function |name|, which fails where there is no current context if it |needsContext|.
  explicit Call(const char *name, bool needsContext = true);
  bool failed() const { return code != success; }
  /// Does |work| now or when somebody waits.
  void enqueue(std::function<void()> work);
  /// Does all that is queued.
  Code drain();

  State &state;
  Code code = success;

private:
  std::lock_guard<std::recursive_mutex> lock;
};

/// Whether |bytes| bytes at |address| are of one allocation on the device.
bool isDevice(Address address, size_t bytes);
/// Whether |data| is memory of the host.
bool isHost(const void *data);

} // namespace attune::fake

#endif // ATTUNE_TEST_FAKECUDA_DRIVERCALL_H
