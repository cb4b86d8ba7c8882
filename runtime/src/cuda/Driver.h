//===- Driver.h - The part of the CUDA driver that the runtime uses -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declares the driver's C interface, whose ABI is stable, so that neither building nor linking needs CUDA. The first
// session of a model for a GPU opens libcuda. The symbols of functions and the values of constants are those of cuda.h.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_CUDA_DRIVER_H
#define ATTUNE_RUNTIME_CUDA_DRIVER_H

#include "attune/abi.h"
#include "attune/runtime.h"

namespace attune::cuda {

using Code = int;                   ///< CUresult
using Device = int;                 ///< CUdevice
using Address = unsigned long long; ///< CUdeviceptr
using Context = struct CUctx_st *;
using Module = struct CUmod_st *;
using Function = struct CUfunc_st *;
using Stream = struct CUstream_st *;
using Event = struct CUevent_st *;

/// Results (CUresult).
enum : Code { success = 0, invalidValue = 1, outOfMemory = 2, noDevice = 100, notFound = 500, captureImplicit = 906 };
/// CUdevice_attribute.
enum : int { multiprocessorCount = 16, computeCapabilityMajor = 75, computeCapabilityMinor = 76 };
/// CUpointer_attribute, and the CUmemorytype of device memory.
enum : int { pointerMemoryType = 2, pointerDeviceOrdinal = 9 };
enum : unsigned { memoryTypeDevice = 2 };
/// CUfunction_attribute.
enum : int { maxDynamicSharedBytes = 8 };
/// CUstream_flags, and the handle of the per-thread default stream.
enum : unsigned { streamBlocking = 0, streamNonBlocking = 1 };
enum : uintptr_t { perThreadStream = 2 };
/// CUevent_flags.
enum : unsigned { eventDisableTiming = 2 };
/// CUstreamCaptureStatus and CUstreamCaptureMode.
enum : int { captureNone = 0, captureActive = 1, captureInvalidated = 2 };
enum : int { captureModeGlobal = 0, captureModeRelaxed = 2 };
/// CUjit_option.
enum : int { jitErrorLog = 5, jitErrorLogBytes = 6 };

/// CUtensorMapDataType (tensorMapUint16, tensorMapUint32), CUtensorMapSwizzle (tensorMapSwizzle128) and
/// CUtensorMapL2promotion (tensorMapPromote256). tensorMapNone is "none" of CUtensorMapInterleave, CUtensorMapSwizzle
/// and CUtensorMapFloatOOBfill.
enum : int { tensorMapUint16 = 1, tensorMapUint32 = 2, tensorMapNone = 0, tensorMapSwizzle128 = 3, tensorMapPromote256 = 3 };

/// CUDA_MEMCPY2D_v2: copies |height| rows of |widthBytes| bytes, which begin srcPitch or dstPitch bytes apart.
struct Copy2D {
  size_t srcX, srcY;
  unsigned srcMemoryType;
  const void *srcHost;
  Address srcDevice;
  void *srcArray;
  size_t srcPitch;
  size_t dstX, dstY;
  unsigned dstMemoryType;
  void *dstHost;
  Address dstDevice;
  void *dstArray;
  size_t dstPitch;
  size_t widthBytes, height;
};

/// The functions of the driver: name in this program, name in the library, parameters.
#define ATTUNE_CUDA_FUNCTIONS(F)                                                                                                           \
  F(init, "cuInit", (unsigned flags))                                                                                                      \
  F(getErrorName, "cuGetErrorName", (Code code, const char **name))                                                                        \
  F(deviceGetCount, "cuDeviceGetCount", (int *count))                                                                                      \
  F(deviceGet, "cuDeviceGet", (Device * device, int ordinal))                                                                              \
  F(deviceGetName, "cuDeviceGetName", (char *name, int bytes, Device device))                                                              \
  F(deviceGetAttribute, "cuDeviceGetAttribute", (int *value, int attribute, Device device))                                                \
  F(primaryContextRetain, "cuDevicePrimaryCtxRetain", (Context * context, Device device))                                                  \
  F(primaryContextRelease, "cuDevicePrimaryCtxRelease_v2", (Device device))                                                                \
  F(contextPush, "cuCtxPushCurrent_v2", (Context context))                                                                                 \
  F(contextPop, "cuCtxPopCurrent_v2", (Context * context))                                                                                 \
  F(moduleLoad, "cuModuleLoadDataEx", (Module * module, const void *image, unsigned count, int *options, void **values))                   \
  F(moduleUnload, "cuModuleUnload", (Module module))                                                                                       \
  F(moduleGetFunction, "cuModuleGetFunction", (Function * function, Module module, const char *name))                                      \
  F(functionSetAttribute, "cuFuncSetAttribute", (Function function, int attribute, int value))                                             \
  F(memoryAllocate, "cuMemAlloc_v2", (Address * address, size_t bytes))                                                                    \
  F(memoryFree, "cuMemFree_v2", (Address address))                                                                                         \
  F(copyToDevice, "cuMemcpyHtoDAsync_v2", (Address to, const void *from, size_t bytes, Stream stream))                                     \
  F(copyToHost, "cuMemcpyDtoHAsync_v2", (void *to, Address from, size_t bytes, Stream stream))                                             \
  F(copy2D, "cuMemcpy2DAsync_v2", (const Copy2D *copy, Stream stream))                                                                     \
  F(tensorMapEncode, "cuTensorMapEncodeTiled",                                                                                             \
    (void *out, int type, unsigned rank, Address data, const uint64_t *sizes, const uint64_t *strides, const unsigned *box,                \
     const unsigned *steps, int interleave, int swizzle, int promotion, int fill))                                                         \
  F(pointerGetAttribute, "cuPointerGetAttribute", (void *value, int attribute, Address address))                                           \
  F(streamCreate, "cuStreamCreate", (Stream * stream, unsigned flags))                                                                     \
  F(streamDestroy, "cuStreamDestroy_v2", (Stream stream))                                                                                  \
  F(streamSynchronize, "cuStreamSynchronize", (Stream stream))                                                                             \
  F(streamIsCapturing, "cuStreamIsCapturing", (Stream stream, int *status))                                                                \
  F(threadExchangeCaptureMode, "cuThreadExchangeStreamCaptureMode", (int *mode))                                                           \
  F(eventCreate, "cuEventCreate", (Event * event, unsigned flags))                                                                         \
  F(eventDestroy, "cuEventDestroy_v2", (Event event))                                                                                      \
  F(eventRecord, "cuEventRecord", (Event event, Stream stream))                                                                            \
  F(eventSynchronize, "cuEventSynchronize", (Event event))                                                                                 \
  F(launchKernel, "cuLaunchKernel",                                                                                                        \
    (Function function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY, unsigned blockZ,                 \
     unsigned sharedBytes, Stream stream, void **args, void **extra))

/// The functions of libcuda, by their names in this program.
struct Driver {
#define ATTUNE_CUDA_MEMBER(name, symbol, parameters) Code(*name) parameters;
  ATTUNE_CUDA_FUNCTIONS(ATTUNE_CUDA_MEMBER)
#undef ATTUNE_CUDA_MEMBER

  /// Fails unless |code| is success: with OUT_OF_MEMORY for outOfMemory, else with DEVICE_ERROR. The message says that
  /// |what| failed, and has the driver's name of the error.
  attune_status check(Code code, const char *what) const;
};

/// Opens libcuda.so.1 and initializes it, once in the process, and sets |out| to its functions. Fails with INCOMPATIBLE
/// if the library cannot be opened, is too old or finds no GPU, and as Driver::check does if it cannot be initialized.
/// After a failure |out| is null, and the next call tries again.
attune_status openDriver(const Driver *&out);

} // namespace attune::cuda

#endif // ATTUNE_RUNTIME_CUDA_DRIVER_H
