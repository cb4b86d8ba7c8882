//===- DriverLaunch.cpp - Modules and launches of the fake driver -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "DriverCall.h"
#include "Images.h"
#include "Settings.h"

#include <array>
#include <cstring>
#include <dlfcn.h>

using namespace attune;
using namespace attune::cuda;
using namespace attune::fake;

/// Returns the text of a rule of the driver that a launch with these sizes breaks, or null if the launch breaks none.
/// |sharedBytes| is the size of dynamic shared memory.
static const char *findLaunchProblem(const LoadedFunction &function, std::array<unsigned, 3> grid, std::array<unsigned, 3> block,
                                     unsigned sharedBytes) {
  uint64_t threads = uint64_t(block[0]) * block[1] * block[2], shared = uint64_t(function.image->staticShared) + sharedBytes;
  const emulated::Kernel &kernel = *function.kernel;
  if (!grid[0] || !grid[1] || !grid[2] || !threads)
    return "a size is 0";
  if (grid[0] >= 1u << 31 || grid[1] >= 1u << 16 || grid[2] >= 1u << 16)
    return "a grid has at most 2^31 - 1 x 65535 x 65535 blocks";
  if (threads > 1024 || block[2] > 64)
    return "a block has at most 1024 threads, and at most 64 in the third dimension";
  if ((kernel.threads && kernel.threads != threads) || (kernel.maxThreads && threads > kernel.maxThreads))
    return "the kernel is made for blocks of another size";
  if (function.hasLimit ? sharedBytes > function.dynamicLimit : shared > 48 << 10)
    return "more shared memory than CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES allows";
  return shared > emulated::sharedBytes ? "more shared memory than the GPU has" : nullptr;
}

extern "C" {
#pragma GCC visibility push(default)

Code cuModuleLoadDataEx(Module *module, const void *data, unsigned count, int *options, void **values) {
  Call call("cuModuleLoadDataEx", true, true);
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
  Call call("cuModuleUnload", true, true);
  auto found = call.state.modules.find(module);
  if (found == call.state.modules.end())
    return invalidHandle;
  if (call.code == captureUnsupported)
    return call.code;
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
  found->second->hasLimit = true;
  return success;
}

Code cuLaunchKernel(Function function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY, unsigned blockZ,
                    unsigned sharedBytes, Stream stream, void **args, void **extra) {
  Call call("cuLaunchKernel");
  auto found = call.state.functions.find(function);
  if (call.failed() || found == call.state.functions.end() || !Streams::get().isKnown(stream))
    return call.failed() ? call.code : invalidHandle;
  LoadedFunction &loaded = *found->second;
  if (const char *problem = findLaunchProblem(loaded, {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes); problem || extra) {
    std::fprintf(stderr, "fake GPU: '%s' cannot be launched: %s\n", loaded.kernel->name, problem ? problem : "it has extra options");
    return invalidValue;
  }
  if (Settings::get().log)
    std::fprintf(Settings::get().log, "  %s <<<(%u, %u, %u), (%u, %u, %u), %u>>>\n", loaded.kernel->name, gridX, gridY, gridZ, blockX,
                 blockY, blockZ, sharedBytes);
  // The driver reads the values of arguments before the call returns.
  std::vector<std::vector<uint64_t>> values;
  for (uint32_t i = 0; i < loaded.kernel->numArgs; ++i) {
    uint32_t bytes = loaded.kernel->argBytes[i];
    values.emplace_back((bytes + 7) / 8);
    std::memcpy(values.back().data(), args[i], bytes);
  }
  State &state = call.state;
  return call.enqueue(stream, [=, &state, &loaded] {
    std::vector<std::vector<uint64_t>> copies = values;
    std::vector<void *> pointers;
    for (auto &value : copies)
      pointers.push_back(value.data());
    OpenMemory open;
    Launch launch{loaded.image, loaded.kernel, {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes, pointers.data()};
    if (std::string problem = runLaunch(launch); !problem.empty())
      state.fail(problem);
  });
}

#pragma GCC visibility pop
}
