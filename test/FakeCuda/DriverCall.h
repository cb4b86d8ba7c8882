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
  bool hasLimit = false;     ///< if false, a block may have 48 KiB of shared memory, static and dynamic together
  unsigned dynamicLimit = 0; ///< if |hasLimit|, the most bytes of dynamic shared memory of a block
};

struct LoadedModule {
  void *library;
  const emulated::Image *image;
  std::vector<LoadedFunction *> functions;
};

/// A CUDA event, which marks a point in a stream.
struct RecordedEvent {
  uint64_t work = 0;       ///< number of the queued work that records the event, 0 before cuEventRecord
  bool isCaptured = false; ///< true if it was recorded in a stream that was being captured
};

/// The state of the driver except memory and streams. Calls hold |mutex|, so they run one at a time.
struct State {
  std::recursive_mutex mutex;
  bool isInitialized = false;
  int retained = 0;     ///< how often the primary context has been retained and not released
  Code error = success; ///< the error of a kernel or copy; once set, it stays
  std::map<std::string, uint32_t> calls; ///< the number of calls of each function
  std::map<Module, LoadedModule *> modules;
  std::map<Function, LoadedFunction *> functions;
  std::map<Event, RecordedEvent> events;

  /// Prints |problem| to standard error. Sets |error| to illegalAddress if |problem| describes an illegal address or an
  /// access outside of every allocation, else to launchFailed. Work that is queued does not run after that.
  void fail(const std::string &problem);
  /// Returns the only state, which is never destroyed.
  static State &get();
};

/// The contexts that a thread has pushed with cuCtxPushCurrent and not popped, each of them the primary context. A
/// thread other than the main one must pop them before it ends; else the program aborts.
struct ContextStack : std::vector<Context> {
  ~ContextStack();
};
extern thread_local ContextStack contexts;
/// The CUstreamCaptureMode of the current thread.
extern thread_local int captureMode;

/// Makes device memory accessible to this program during the lifetime of the object.
struct OpenMemory {
  OpenMemory() { DeviceMemory::get().open(true); }
  ~OpenMemory() { DeviceMemory::get().open(false); }
};

/// One call of a driver function. The constructor takes the lock, writes the log and injects failures.
class Call {
public:
  /// Begins a call of the function |name|. Sets |code| to the first error that applies: the error that the setting
  /// `fail` injects into this call; notInitialized before cuInit; if |needsContext|, invalidContext if the thread has
  /// no current context, else State::error; if |isUnsafe|, captureUnsupported if a capture forbids calls that may wait
  /// for the whole GPU. In this last case all captures become invalid.
  explicit Call(const char *name, bool needsContext = true, bool isUnsafe = false);
  bool failed() const { return code != success; }
  /// Queues |work| in |stream|, which must be known to Streams. Returns captureImplicit or captureInvalid, and does not
  /// queue |work|, if a capture does not allow it. When its turn comes, |work| runs only if State::error is success.
  Code enqueue(Stream stream, Work work);
  /// Returns true and invalidates all captures if |stream| is the default stream while a blocking stream is being
  /// captured, because the default stream would have to wait for the captured one.
  bool isImplicitlyCaptured(Stream stream);
  /// Runs all work of all streams. Returns State::error.
  Code drain();

  State &state;
  Code code = success;
  uint64_t number = 0; ///< the number of the work that this call queued last

private:
  std::lock_guard<std::recursive_mutex> lock;
};

/// Returns true if |bytes| bytes at |address| are in one allocation on the device.
bool isDevice(Address address, size_t bytes);
/// Returns true if |data| is not null and not an address of device memory.
bool isHost(const void *data);
/// Returns true if |address| is a multiple of 16; else prints an error that begins with |what|. The fake driver demands
/// multiples of 16 for all addresses of copies in device memory, because kernels that access vectors need them. A real
/// driver copies from any address, but slowly.
bool isAligned(const char *what, Address address);

} // namespace attune::fake

#endif // ATTUNE_TEST_FAKECUDA_DRIVERCALL_H
