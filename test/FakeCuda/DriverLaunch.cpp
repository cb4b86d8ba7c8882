//===- DriverLaunch.cpp - Modules, streams, launches of the fake driver ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "DriverCall.h"
#include "Images.h"
#include "Settings.h"

#include <cstring>
#include <dlfcn.h>

using namespace attune;
using namespace attune::cuda;
using namespace attune::fake;

static void failLaunch(State &state, const std::string &problem) {
  std::fprintf(stderr, "fake GPU: %s\n", problem.c_str());
  state.error = problem.find("llegal address") != std::string::npos || problem.find("outside of every") != std::string::npos
                    ? illegalAddress
                    : launchFailed;
}

extern "C" {
#pragma GCC visibility push(default)

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
