//===- Device.h - The interface of devices that run kernels ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attune_device_functions, a table of functions, is the interface between the runtime and its code for one kind of
// device. Device.cpp refers to the tables weakly, so a program that links the static library contains the code for a
// device only if the program also refers to the table of that device elsewhere.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_DEVICE_H
#define ATTUNE_RUNTIME_DEVICE_H

#include "attune/runtime.h"
#include "Error.h"

namespace attune {

struct EntryTables;

/// The code and the weights of a model on a device. Each kind of device derives a type from it.
struct DeviceModel {
  uint32_t arch = 0;   ///< value of attune_host::arch
  int64_t workers = 1; ///< value of attune_host::num_workers
};

/// The part of a session on a device. Each kind of device derives a type from it.
struct DeviceSession {
  attune_host host = {};  ///< passed to the entries
  void *memory = nullptr; ///< device memory of the session
};

} // namespace attune

/// The functions of one kind of device. All that return a status fail with DEVICE_ERROR if the driver of the device
/// fails, and with OUT_OF_MEMORY if the device or the host has too little memory.
struct attune_device_functions {
  /// Loads onto device number |ordinal| the code of |desc| that fits the device best, and |weights|, desc.weights_bytes
  /// bytes of host memory. Also fails with INVALID_ARGUMENT if there is no such device, and with INCOMPATIBLE if the
  /// driver is missing or too old or no code of |desc| runs on the device. Sets |out| to null if it fails.
  attune_status (*load)(const attune_model_desc &desc, const void *weights, int ordinal, attune::DeviceModel *&out);
  /// Releases |model|, which must have no sessions.
  void (*unload)(attune::DeviceModel *model);

  /// Creates a session of |model|, the loaded |desc|, with |bytes| bytes of device memory. The session works in
  /// |stream|, or in a new stream if |stream| is null. Also fails with INVALID_ARGUMENT for a stream that cannot be
  /// used.
  attune_status (*create)(const attune::DeviceModel &model, const attune_model_desc &desc, uint64_t bytes, void *stream,
                          attune::DeviceSession *&out);
  /// Waits for the queued work of |session| and destroys it.
  void (*destroy)(attune::DeviceSession *session);

  /// enter() makes the device current in the calling thread until leave(), which gets the |state| that enter() has set.
  /// After a failure of enter(), leave() must not be called. The functions below require that the device is current.
  attune_status (*enter)(attune::DeviceSession &session, int &state);
  void (*leave)(attune::DeviceSession &session, int state);

  /// Begins a call of an entry: waits until no copy reads or writes the session's own host memory. Fails with
  /// INVALID_ARGUMENT if the stream cannot be used, as when its capture has been invalidated.
  attune_status (*beginCall)(attune::DeviceSession &session);
  /// Sets |onDevice| to true if |data| points to memory of this device, else to false. Fails with INVALID_ARGUMENT if
  /// |data| points to memory of another device, or to misaligned memory of this one. |name| is the name of the tensor,
  /// for messages.
  attune_status (*locate)(const attune::DeviceSession &session, const char *name, const void *data, bool &onDevice);
  /// Runs |entry| on the tensors of |tables|, after beginCall(): copies inputs in host memory to the device first, and
  /// outputs in host memory back at the end. The entry gets workspace, state and dims of |call|, the weights on the
  /// device, and the device addresses of the tensors. Returns before the work is done only if the stream is the
  /// caller's and all tensors of the caller are on the device. After a failure no copy of host memory is pending. Also
  /// fails with INTERNAL if the entry returns an error, and with INVALID_ARGUMENT if the stream is being captured into
  /// a graph and no graph can replay the call.
  attune_status (*run)(attune::DeviceSession &session, const attune_entry_desc &entry, const attune_call &call,
                       attune::EntryTables &tables);

  /// Fails with INVALID_ARGUMENT if the stream is being captured into a graph; |what| ("copying a slot") is the refused
  /// work, for the message.
  attune_status (*refuseCapture)(const attune::DeviceSession &session, const char *what);
  /// upload() copies |bytes| bytes of host memory to device memory, download() the other way. Both wait for the copy.
  attune_status (*upload)(attune::DeviceSession &session, void *to, const void *from, uint64_t bytes);
  attune_status (*download)(attune::DeviceSession &session, void *to, const void *from, uint64_t bytes);
  /// Queues a copy of |count| rows of |bytes| bytes within the session's device memory. In source and target, each row
  /// begins |pitch| bytes after the row before.
  attune_status (*copyRows)(attune::DeviceSession &session, void *to, const void *from, size_t bytes, size_t pitch, size_t count);
};

namespace attune {

/// Sets |out| to the functions of the device that |desc| is compiled for, null for the CPU. Fails with INCOMPATIBLE if
/// the program has no code for that device.
attune_status findDevice(const attune_model_desc &desc, const attune_device_functions *&out);

/// Makes the device of a session current in the calling thread from enter() until the end of the scope.
class DeviceScope {
public:
  DeviceScope() = default;
  ~DeviceScope() {
    if (entered)
      device->leave(*entered, state);
  }
  DeviceScope(const DeviceScope &) = delete;
  /// Enters the device of |session|, at most once in a scope; does nothing if |session| is null (on the CPU). Fails
  /// with DEVICE_ERROR or OUT_OF_MEMORY.
  attune_status enter(const attune_device_functions *functions, DeviceSession *session) {
    if (!session)
      return ATTUNE_OK;
    ATTUNE_TRY(functions->enter(*session, state));
    device = functions;
    entered = session;
    return ATTUNE_OK;
  }

private:
  const attune_device_functions *device = nullptr;
  DeviceSession *entered = nullptr;
  int state = 0;
};

} // namespace attune

#endif // ATTUNE_RUNTIME_DEVICE_H
