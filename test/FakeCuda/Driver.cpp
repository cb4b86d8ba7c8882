//===- Driver.cpp - A libcuda.so.1 for machines without GPU -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of the CUDA driver's interface that the runtime uses. They are as strict as those of the real driver,
// and stricter where possible. Images are shared objects that emulateDevice makes. As on a GPU, a launch succeeds even
// if its kernel has an error. Every later call that needs a context returns the error; with `lazy`, from the wait that
// runs the kernel on. The description of the error is printed to standard error.
//===----------------------------------------------------------------------===//

#include "DriverCall.h"
#include "Settings.h"

#include <cstdio>

using namespace attune;
using namespace attune::cuda;
using namespace attune::fake;

static const auto theContext = reinterpret_cast<Context>(0x100);

extern "C" {
#pragma GCC visibility push(default)

Code cuInit(unsigned) {
  Call call("cuInit", false);
  if (!call.failed() && Settings::get().devices == 0)
    return noDevice;
  call.state.isInitialized = !call.failed();
  return call.code;
}

Code cuGetErrorName(Code code, const char **name) {
  static const std::map<Code, const char *> names = {{success, "CUDA_SUCCESS"},
                                                     {invalidValue, "CUDA_ERROR_INVALID_VALUE"},
                                                     {outOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                     {notInitialized, "CUDA_ERROR_NOT_INITIALIZED"},
                                                     {noDevice, "CUDA_ERROR_NO_DEVICE"},
                                                     {invalidContext, "CUDA_ERROR_INVALID_CONTEXT"},
                                                     {invalidPtx, "CUDA_ERROR_INVALID_PTX"},
                                                     {invalidHandle, "CUDA_ERROR_INVALID_HANDLE"},
                                                     {notFound, "CUDA_ERROR_NOT_FOUND"},
                                                     {illegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                                                     {misalignedAddress, "CUDA_ERROR_MISALIGNED_ADDRESS"},
                                                     {launchFailed, "CUDA_ERROR_LAUNCH_FAILED"},
                                                     {captureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
                                                     {captureInvalid, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"},
                                                     {captureImplicit, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT"},
                                                     {capturedEvent, "CUDA_ERROR_CAPTURED_EVENT"}};
  auto found = names.find(code);
  *name = found == names.end() ? nullptr : found->second;
  return found == names.end() ? invalidValue : success;
}

Code cuDeviceGetCount(int *count) {
  Call call("cuDeviceGetCount", false);
  *count = static_cast<int>(Settings::get().devices);
  return call.code;
}

Code cuDeviceGet(Device *device, int ordinal) {
  Call call("cuDeviceGet", false);
  *device = ordinal;
  return call.failed() ? call.code : ordinal >= 0 && ordinal < static_cast<int>(Settings::get().devices) ? success : invalidValue;
}

Code cuDeviceGetName(char *name, int bytes, Device) {
  Call call("cuDeviceGetName", false);
  std::snprintf(name, static_cast<size_t>(bytes), "fake GPU");
  return call.code;
}

Code cuDeviceGetAttribute(int *value, int attribute, Device) {
  Call call("cuDeviceGetAttribute", false);
  int arch = static_cast<int>(Settings::get().arch);
  *value = attribute == computeCapabilityMajor   ? arch / 10
           : attribute == computeCapabilityMinor ? arch % 10
           : attribute == multiprocessorCount    ? 3
                                                 : 0;
  return call.code;
}

Code cuDevicePrimaryCtxRetain(Context *context, Device) {
  Call call("cuDevicePrimaryCtxRetain", false);
  if (call.failed())
    return call.code;
  ++call.state.retained;
  *context = theContext;
  return success;
}

Code cuDevicePrimaryCtxRelease_v2(Device) {
  Call call("cuDevicePrimaryCtxRelease_v2", false);
  if (call.state.retained == 0)
    return invalidContext;
  if (--call.state.retained == 0)
    call.drain();
  return call.code;
}

Code cuCtxPushCurrent_v2(Context context) {
  Call call("cuCtxPushCurrent_v2", false);
  if (call.failed() || context != theContext || call.state.retained == 0)
    return call.failed() ? call.code : invalidContext;
  contexts.push_back(context);
  return call.code;
}

Code cuCtxPopCurrent_v2(Context *context) {
  Call call("cuCtxPopCurrent_v2", false);
  if (contexts.empty())
    return invalidContext;
  *context = contexts.back();
  contexts.pop_back();
  return call.code;
}

Code cuCtxGetCurrent(Context *context) {
  Call call("cuCtxGetCurrent", false);
  *context = contexts.empty() ? nullptr : contexts.back();
  return call.code;
}

#pragma GCC visibility pop
}
