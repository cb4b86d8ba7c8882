//===- DriverMemory.cpp - Memory and copies of the fake driver -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "DriverCall.h"
#include "HostMemory.h"

#include <cstring>
#include <string>

using namespace attune;
using namespace attune::cuda;
using namespace attune::fake;

extern "C" {
#pragma GCC visibility push(default)

Code cuMemAlloc_v2(Address *address, size_t bytes) {
  Call call("cuMemAlloc_v2", true, true);
  if (call.failed() || bytes == 0)
    return call.failed() ? call.code : invalidValue;
  void *data = DeviceMemory::get().allocate(bytes);
  *address = reinterpret_cast<Address>(data);
  return data ? success : outOfMemory;
}

Code cuMemFree_v2(Address address) {
  Call call("cuMemFree_v2", true, true);
  if (call.code == captureUnsupported)
    return call.code;
  // A real driver also waits for queued work, which may use the memory.
  call.drain();
  return DeviceMemory::get().free(reinterpret_cast<void *>(address)) ? call.code : invalidValue;
}

Code cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t bytes, Stream stream) {
  Call call("cuMemcpyHtoDAsync_v2");
  if (call.failed() || !isDevice(to, bytes) || !isHost(from) || !isAligned("a copy to the GPU begins", to))
    return call.failed() ? call.code : invalidValue;
  if (!Streams::get().isKnown(stream))
    return invalidHandle;
  // A copy in a graph reads the contents that the host memory has when the graph is launched.
  bool mayChange = Streams::get().captureStatus(stream) != captureNone;
  return call.enqueue(stream, [=, &state = call.state, source = HostSource(from, bytes)] {
    OpenMemory open;
    std::string problem = isDevice(to, bytes) ? source.read(reinterpret_cast<void *>(to), mayChange)
                                              : "a copy to the GPU writes memory that has been freed: illegal address";
    if (!problem.empty())
      state.fail(problem);
  });
}

Code cuMemcpyDtoHAsync_v2(void *to, Address from, size_t bytes, Stream stream) {
  Call call("cuMemcpyDtoHAsync_v2");
  if (call.failed() || !isDevice(from, bytes) || !isHost(to) || !isAligned("a copy from the GPU begins", from))
    return call.failed() ? call.code : invalidValue;
  if (!Streams::get().isKnown(stream))
    return invalidHandle;
  return call.enqueue(stream, [=, &state = call.state] {
    OpenMemory open;
    std::string problem = isDevice(from, bytes) ? writeHost(to, reinterpret_cast<void *>(from), bytes)
                                                : "a copy from the GPU reads memory that has been freed: illegal address";
    if (!problem.empty())
      state.fail(problem);
  });
}

Code cuMemcpy2DAsync_v2(const Copy2D *given, Stream stream) {
  Call call("cuMemcpy2DAsync_v2");
  Copy2D copy = *given;
  bool good = copy.srcMemoryType == memoryTypeDevice && copy.dstMemoryType == memoryTypeDevice && copy.srcPitch >= copy.widthBytes &&
              copy.dstPitch >= copy.widthBytes && copy.height > 0 &&
              isDevice(copy.srcDevice, (copy.height - 1) * copy.srcPitch + copy.widthBytes) &&
              isDevice(copy.dstDevice, (copy.height - 1) * copy.dstPitch + copy.widthBytes);
  good = good && isAligned("a copy of rows reads", copy.srcDevice) && isAligned("a copy of rows writes", copy.dstDevice) &&
         isAligned("a row of a copy begins", copy.srcPitch | copy.dstPitch);
  if (call.failed() || !good)
    return call.failed() ? call.code : invalidValue;
  if (!Streams::get().isKnown(stream))
    return invalidHandle;
  return call.enqueue(stream, [=] {
    OpenMemory open;
    for (size_t row = 0; row < copy.height; ++row)
      std::memcpy(reinterpret_cast<char *>(copy.dstDevice) + row * copy.dstPitch,
                  reinterpret_cast<char *>(copy.srcDevice) + row * copy.srcPitch, copy.widthBytes);
  });
}

Code cuTensorMapEncodeTiled(void *out, int type, unsigned rank, Address data, const uint64_t *sizes, const uint64_t *strides,
                            const unsigned *box, const unsigned *steps, int interleave, int swizzle, int, int fill) {
  Call call("cuTensorMapEncodeTiled");
  bool good = out && reinterpret_cast<uintptr_t>(out) % 64 == 0 && (type == tensorMapUint16 || type == tensorMapUint32) && rank >= 1 &&
              rank <= 5 && data % 16 == 0 && interleave == tensorMapNone && fill == tensorMapNone &&
              (swizzle == tensorMapNone || swizzle == tensorMapSwizzle128);
  if (call.failed() || !good)
    return call.failed() ? call.code : invalidValue;
  TensorMap map{};
  map.magic = tensorMapMagic;
  map.data = reinterpret_cast<char *>(data);
  map.rank = rank;
  map.elementBytes = type == tensorMapUint16 ? 2 : 4;
  map.swizzle = swizzle == tensorMapSwizzle128;
  uint64_t last = 0;
  for (unsigned d = 0; d < rank; ++d) {
    map.sizes[d] = static_cast<uint32_t>(sizes[d]);
    map.box[d] = box[d];
    map.strides[d] = d == 0 ? map.elementBytes : strides[d - 1];
    good &= sizes[d] >= 1 && sizes[d] < uint64_t(1) << 32 && box[d] >= 1 && box[d] <= 256 && steps[d] == 1 &&
            (d == 0 || (map.strides[d] % 16 == 0 && map.strides[d] < uint64_t(1) << 40));
    last += (sizes[d] - 1) * map.strides[d];
  }
  uint64_t row = box[0] * map.elementBytes;
  good &= row % 16 == 0 && (!map.swizzle || row <= 128) && isDevice(data, last + map.elementBytes);
  if (!good)
    return invalidValue;
  std::memcpy(out, &map, sizeof(map));
  return success;
}

Code cuPointerGetAttribute(void *value, int attribute, Address address) {
  Call call("cuPointerGetAttribute");
  if (call.failed() || !DeviceMemory::get().contains(reinterpret_cast<void *>(address)))
    return call.failed() ? call.code : invalidValue;
  unsigned answer = attribute == pointerMemoryType ? unsigned(memoryTypeDevice) : 0;
  std::memcpy(value, &answer, sizeof(answer));
  return attribute == pointerMemoryType || attribute == pointerDeviceOrdinal ? success : invalidValue;
}

#pragma GCC visibility pop
}
