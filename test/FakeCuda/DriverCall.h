//===- DriverCall.h - The state of the fake driver --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_FAKECUDA_DRIVERCALL_H
#define ATTUNE_TEST_FAKECUDA_DRIVERCALL_H

#include "runtime/src/cuda/Driver.h"
#include "test/FakeCuda/Block.h"
#include "test/FakeCuda/DeviceMemory.h"
#include "test/FakeCuda/Streams.h"

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace attune::fake {

using namespace attune::cuda;

enum : Code {
  notInitialized = 3,
  invalidContext = 201,
  invalidPtx = 218,
  invalidHandle = 400,
  illegalAddress = 700,
  misalignedAddress = 716,
  launchFailed = 719,
  captureUnsupported = 900,
  captureInvalid = 901,
  capturedEvent = 907
};

struct LoadedFunction {
  const emulated::Image *image;
  const emulated::Kernel *kernel;
  bool hasLimit = false; ///< |dynamicLimit| has been set; otherwise a block has 48 KiB of shared memory, static and dynamic
  unsigned dynamicLimit = 0;
};

struct LoadedModule {
  void *library;
  const emulated::Image *image;
  std::vector<LoadedFunction *> functions;
};

/// A point in a stream.
struct RecordedEvent {
  uint64_t work = 0; ///< the number of the work that records it, 0 before it is recorded
  bool isCaptured = false;
};

/// The state of the driver except memory and streams. One call at a time may access it.
struct State {
  std::recursive_mutex mutex;
  bool isInitialized = false;
  int retained = 0;
  Code error = success; ///< of a kernel; never reset
  std::map<std::string, uint32_t> calls;
  std::map<Module, LoadedModule *> modules;
  std::map<Function, LoadedFunction *> functions;
  std::map<Event, RecordedEvent> events;

  /// Prevents all further work because of |problem|, and prints it to standard error.
  void fail(const std::string &problem);
  /// Returns the state, which lives as long as its last user.
  static State &get();
};

/// The contexts that a thread has pushed; there is only one context. Every thread except the main thread must pop them
/// before it ends.
struct ContextStack : std::vector<Context> {
  ~ContextStack();
};
extern thread_local ContextStack contexts;
/// The CUstreamCaptureMode of the thread.
extern thread_local int captureMode;

/// Gives this program access to device memory for a scope.
struct OpenMemory {
  OpenMemory() { DeviceMemory::get().open(true); }
  ~OpenMemory() { DeviceMemory::get().open(false); }
};

/// A call of the interface. It takes the lock, writes the log, and injects failures.
class Call {
public:
  /// Begins a call of the function |name|. If it |needsContext|, it fails without a current context; if it |isUnsafe|
  /// (it may wait for the whole GPU), it invalidates captures.
  explicit Call(const char *name, bool needsContext = true, bool isUnsafe = false);
  bool failed() const { return code != success; }
  /// Queues |work| in the existing |stream|. Returns an error if a capture does not allow it.
  Code enqueue(Stream stream, Work work);
  /// Returns true, and invalidates captures, if |stream| is the default stream and waits for a stream that is being
  /// captured.
  bool isImplicitlyCaptured(Stream stream);
  /// Does all work of all streams. Returns the error of the GPU.
  Code drain();

  State &state;
  Code code = success;
  uint64_t number = 0; ///< of the work that was queued last

private:
  std::lock_guard<std::recursive_mutex> lock;
};

/// Returns true if |bytes| bytes at |address| are in one allocation on the device.
bool isDevice(Address address, size_t bytes);
/// Returns true if |data| is memory of the host.
bool isHost(const void *data);
/// Returns true if a copy may begin at |address|, a multiple of 16 as for vectors of kernels. A real driver copies from
/// any address, but slowly.
bool isAligned(const char *what, Address address);

} // namespace attune::fake

#endif // ATTUNE_TEST_FAKECUDA_DRIVERCALL_H
