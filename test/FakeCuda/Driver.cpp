//===- Driver.cpp - A libcuda.so.1 for machines without GPU -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of the driver's interface that the runtime uses, as strict as the real one and where possible stricter. Images are shared
// objects made by emulateDevice. Errors of kernels appear as they do on a GPU: when somebody waits, and from then on always; what was wrong
// goes to standard error.
//===----------------------------------------------------------------------===//

#include "runtime/src/cuda/Driver.h"
#include "Block.h"
#include "DeviceMemory.h"
#include "Operations.h"
#include "Settings.h"

#include <dlfcn.h>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

using namespace attune;
using namespace attune::cuda;
using namespace attune::fake;

namespace {

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

  static State &get() {
    static State *state = new State; // lives as long as whatever uses it
    return *state;
  }
};

thread_local std::vector<Context> contexts;
const auto theContext = reinterpret_cast<Context>(0x100);

/// Opens device memory to this program while it lives.
struct OpenMemory {
  OpenMemory() { DeviceMemory::get().open(true); }
  ~OpenMemory() { DeviceMemory::get().open(false); }
};

/// One call of the interface: takes the lock, writes the log, injects failures.
class Call {
public:
  explicit Call(const char *name, bool needsContext = true) : state(State::get()), lock(state.mutex) {
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
  bool failed() const { return code != success; }
  /// Does |work| now or when somebody waits.
  void enqueue(std::function<void()> work) {
    if (Settings::get().lazy)
      state.queue.push_back(std::move(work));
    else
      work();
  }
  /// Does all that is queued.
  Code drain() {
    for (auto &work : state.queue)
      if (state.error == success)
        work();
    state.queue.clear();
    return state.error;
  }

  State &state;
  Code code = success;

private:
  std::lock_guard<std::recursive_mutex> lock;
};

bool isDevice(Address address, size_t bytes) { return DeviceMemory::get().isAllocated(reinterpret_cast<void *>(address), bytes); }
bool isHost(const void *data) { return data && !DeviceMemory::get().contains(data); }

void failLaunch(State &state, const std::string &problem) {
  std::fprintf(stderr, "fake GPU: %s\n", problem.c_str());
  state.error = problem.find("llegal address") != std::string::npos || problem.find("outside of every") != std::string::npos
                    ? illegalAddress
                    : launchFailed;
}

/// Loads the shared object at |image|, whose length its headers tell. Returns null and the reason if it is none.
void *loadLibrary(const void *image, std::string &problem) {
  const auto *bytes = static_cast<const unsigned char *>(image);
  if (std::memcmp(bytes,
                  "\x7f"
                  "ELF",
                  4) != 0) {
    problem = "the fake driver has no compiler for PTX";
    return nullptr;
  }
  // The section headers come last in what linkers write.
  uint64_t sections;
  uint16_t size, count;
  std::memcpy(&sections, bytes + 40, 8);
  std::memcpy(&size, bytes + 58, 2);
  std::memcpy(&count, bytes + 60, 2);
  int file = memfd_create("attune-emulated-image", MFD_CLOEXEC);
  size_t total = sections + uint64_t(size) * count;
  if (file < 0 || write(file, image, total) != static_cast<ssize_t>(total)) {
    problem = "the image cannot be written";
    return nullptr;
  }
  void *library = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    problem = dlerror();
  close(file);
  return library;
}

/// Finds what carries out the operations of |image|.
bool resolve(const emulated::Image &image, std::string &problem) {
  for (uint32_t i = 0; i < image.numOperations; ++i) {
    emulated::Operation &operation = image.operations[i];
    operation.handler = reinterpret_cast<void *>(findHandler(operation.name));
    if (!operation.handler) {
      problem = std::string("the emulator does not know '") + operation.name + "'";
      return false;
    }
  }
  return true;
}

/// Makes this library's symbols, and those of the C library's mathematics, visible to images.
void showSymbols() {
  Dl_info info;
  static bool isShown =
      dladdr(reinterpret_cast<void *>(&showSymbols), &info) && dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
  (void)isShown;
}

} // namespace

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
                                                     {launchFailed, "CUDA_ERROR_LAUNCH_FAILED"}};
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
  if (!call.failed())
    ++call.state.retained;
  *context = theContext;
  return call.code;
}

Code cuDevicePrimaryCtxRelease_v2(Device) {
  Call call("cuDevicePrimaryCtxRelease_v2", false);
  if (call.state.retained == 0)
    return invalidContext;
  --call.state.retained;
  return call.code;
}

Code cuCtxPushCurrent_v2(Context context) {
  Call call("cuCtxPushCurrent_v2", false);
  if (context != theContext || call.state.retained == 0)
    return invalidContext;
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

Code cuModuleLoadDataEx(Module *module, const void *data, unsigned count, int *options, void **values) {
  Call call("cuModuleLoadDataEx");
  if (call.failed())
    return call.code;
  showSymbols();
  std::string problem;
  void *library = loadLibrary(data, problem);
  auto *image = library ? static_cast<const emulated::Image *>(dlsym(library, "attune_emulated_image")) : nullptr;
  if (library && (!image || image->magic != emulated::magic))
    problem = "the image is not for this driver";
  if (problem.empty() && resolve(*image, problem)) {
    auto *loaded = new LoadedModule{library, image, {}};
    *module = reinterpret_cast<Module>(loaded);
    call.state.modules[*module] = loaded;
    return success;
  }
  for (unsigned i = 0; i + 1 < count; ++i)
    if (options[i] == jitErrorLog && options[i + 1] == jitErrorLogBytes)
      std::snprintf(static_cast<char *>(values[i]), reinterpret_cast<size_t>(values[i + 1]), "%s\n", problem.c_str());
  if (library)
    dlclose(library);
  return invalidPtx;
}

Code cuModuleUnload(Module module) {
  Call call("cuModuleUnload");
  auto found = call.state.modules.find(module);
  if (found == call.state.modules.end())
    return invalidHandle;
  call.drain();
  for (LoadedFunction *function : found->second->functions) {
    call.state.functions.erase(reinterpret_cast<Function>(function));
    delete function;
  }
  dlclose(found->second->library);
  delete found->second;
  call.state.modules.erase(found);
  return call.code;
}

Code cuModuleGetFunction(Function *function, Module module, const char *name) {
  Call call("cuModuleGetFunction");
  auto found = call.state.modules.find(module);
  if (call.failed() || found == call.state.modules.end())
    return call.failed() ? call.code : invalidHandle;
  const emulated::Image &image = *found->second->image;
  for (uint32_t i = 0; i < image.numKernels; ++i)
    if (std::strcmp(image.kernels[i].name, name) == 0) {
      auto *loaded = new LoadedFunction{&image, &image.kernels[i]};
      found->second->functions.push_back(loaded);
      *function = reinterpret_cast<Function>(loaded);
      call.state.functions[*function] = loaded;
      return success;
    }
  return notFound;
}

Code cuFuncSetAttribute(Function function, int attribute, int value) {
  Call call("cuFuncSetAttribute");
  auto found = call.state.functions.find(function);
  if (call.failed() || found == call.state.functions.end())
    return call.failed() ? call.code : invalidHandle;
  if (attribute != maxDynamicSharedBytes || value < 0 ||
      found->second->image->staticShared + static_cast<unsigned>(value) > emulated::sharedBytes)
    return invalidValue;
  found->second->dynamicLimit = static_cast<unsigned>(value);
  return success;
}

Code cuMemAlloc_v2(Address *address, size_t bytes) {
  Call call("cuMemAlloc_v2");
  if (call.failed() || bytes == 0)
    return call.failed() ? call.code : invalidValue;
  void *data = DeviceMemory::get().allocate(bytes);
  *address = reinterpret_cast<Address>(data);
  return data ? success : outOfMemory;
}

Code cuMemFree_v2(Address address) {
  Call call("cuMemFree_v2");
  call.drain();
  return DeviceMemory::get().free(reinterpret_cast<void *>(address)) ? call.code : invalidValue;
}

Code cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t bytes, Stream) {
  Call call("cuMemcpyHtoDAsync_v2");
  if (call.failed() || !isDevice(to, bytes) || !isHost(from))
    return call.failed() ? call.code : invalidValue;
  // Ordinary memory is read before the call returns.
  std::string copy(static_cast<const char *>(from), bytes);
  call.enqueue([=] {
    OpenMemory open;
    std::memcpy(reinterpret_cast<void *>(to), copy.data(), copy.size());
  });
  return success;
}

Code cuMemcpyDtoHAsync_v2(void *to, Address from, size_t bytes, Stream) {
  Call call("cuMemcpyDtoHAsync_v2");
  if (call.failed() || !isDevice(from, bytes) || !isHost(to))
    return call.failed() ? call.code : invalidValue;
  call.enqueue([=] {
    OpenMemory open;
    std::memcpy(to, reinterpret_cast<void *>(from), bytes);
  });
  return success;
}

Code cuMemcpy2DAsync_v2(const Copy2D *given, Stream) {
  Call call("cuMemcpy2DAsync_v2");
  Copy2D copy = *given;
  bool good = copy.srcMemoryType == memoryTypeDevice && copy.dstMemoryType == memoryTypeDevice && copy.srcPitch >= copy.widthBytes &&
              copy.dstPitch >= copy.widthBytes && copy.height > 0 &&
              isDevice(copy.srcDevice, (copy.height - 1) * copy.srcPitch + copy.widthBytes) &&
              isDevice(copy.dstDevice, (copy.height - 1) * copy.dstPitch + copy.widthBytes);
  if (call.failed() || !good)
    return call.failed() ? call.code : invalidValue;
  call.enqueue([=] {
    OpenMemory open;
    for (size_t row = 0; row < copy.height; ++row)
      std::memcpy(reinterpret_cast<char *>(copy.dstDevice) + row * copy.dstPitch,
                  reinterpret_cast<char *>(copy.srcDevice) + row * copy.srcPitch, copy.widthBytes);
  });
  return success;
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
  unsigned answer = attribute == pointerMemoryType ? memoryTypeDevice : 0;
  std::memcpy(value, &answer, sizeof(answer));
  return attribute == pointerMemoryType || attribute == pointerDeviceOrdinal ? success : invalidValue;
}

Code cuStreamCreate(Stream *stream, unsigned) {
  Call call("cuStreamCreate");
  static uintptr_t last = 0x1000;
  *stream = reinterpret_cast<Stream>(++last);
  if (!call.failed())
    call.state.streams[*stream] = true;
  return call.code;
}

Code cuStreamDestroy_v2(Stream stream) {
  Call call("cuStreamDestroy_v2");
  return call.state.streams.erase(stream) ? call.code : invalidHandle;
}

Code cuStreamSynchronize(Stream stream) {
  Call call("cuStreamSynchronize");
  if (call.failed() || (stream && !call.state.streams.count(stream)))
    return call.failed() ? call.code : invalidHandle;
  return call.drain();
}

Code cuLaunchKernel(Function function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY, unsigned blockZ,
                    unsigned sharedBytes, Stream stream, void **args, void **extra) {
  Call call("cuLaunchKernel");
  auto found = call.state.functions.find(function);
  if (call.failed() || found == call.state.functions.end() || (stream && !call.state.streams.count(stream)))
    return call.failed() ? call.code : invalidHandle;
  LoadedFunction &loaded = *found->second;
  uint64_t threads = uint64_t(blockX) * blockY * blockZ;
  bool good = gridX && gridY && gridZ && gridX < 1u << 31 && gridY < 65536 && gridZ < 65536 && threads && threads <= 1024 && blockZ <= 64 &&
              sharedBytes <= loaded.dynamicLimit && loaded.image->staticShared + sharedBytes <= emulated::sharedBytes && !extra &&
              (!loaded.kernel->threads || loaded.kernel->threads == threads) &&
              (!loaded.kernel->maxThreads || threads <= loaded.kernel->maxThreads);
  if (!good)
    return invalidValue;
  if (Settings::get().log)
    std::fprintf(Settings::get().log, "  %s <<<(%u, %u, %u), (%u, %u, %u), %u>>>\n", loaded.kernel->name, gridX, gridY, gridZ, blockX,
                 blockY, blockZ, sharedBytes);
  // The values of arguments are read before the call returns.
  std::vector<std::vector<uint64_t>> values;
  for (uint32_t i = 0; i < loaded.kernel->numArgs; ++i) {
    uint32_t bytes = loaded.kernel->argBytes[i];
    values.emplace_back((bytes + 7) / 8);
    std::memcpy(values.back().data(), args[i], bytes);
  }
  State &state = call.state;
  call.enqueue([=, &state, &loaded]() mutable {
    std::vector<void *> pointers;
    for (auto &value : values)
      pointers.push_back(value.data());
    OpenMemory open;
    Launch launch{loaded.image, loaded.kernel, {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes, pointers.data()};
    if (std::string problem = runLaunch(launch); !problem.empty())
      failLaunch(state, problem);
  });
  return success;
}

#pragma GCC visibility pop
}
