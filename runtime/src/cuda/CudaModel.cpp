//===- CudaModel.cpp - Loading a model on a GPU ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CudaModel.h"
#include "../Error.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

using namespace attune;
using namespace attune::cuda;

/// The number of thread blocks on each multiprocessor that have scratch memory of their own at the same time.
static constexpr int64_t blocksPerMultiprocessor = 2;

attune_status cuda::enterContext(const Driver &driver, Context context, int &captureMode) {
  ATTUNE_TRY(driver.check(driver.contextPush(context), "making the GPU the thread's current one"));
  captureMode = captureModeRelaxed;
  attune_status status = driver.check(driver.threadExchangeCaptureMode(&captureMode), "setting the thread's capture mode");
  if (status != ATTUNE_OK)
    driver.contextPop(&context);
  return status;
}

void cuda::leaveContext(const Driver &driver, int captureMode) {
  Context ignored;
  driver.threadExchangeCaptureMode(&captureMode);
  driver.contextPop(&ignored);
}

attune_status ContextScope::enter(const Driver &driver, Context context) {
  ATTUNE_TRY(enterContext(driver, context, captureMode));
  entered = &driver;
  return ATTUNE_OK;
}

ContextScope::~ContextScope() {
  if (entered)
    leaveContext(*entered, captureMode);
}

/// Returns the rating of |image| for a GPU of |capability|, as chooseImage() orders images, the best one highest; 0 if
/// the image does not run on the GPU.
static uint32_t rateImage(const attune_gpu_image &image, uint32_t capability) {
  bool isCubin = image.kind == ATTUNE_IMAGE_CUBIN;
  if (image.arch_specific)
    return image.arch == capability ? 3000 + isCubin : 0;
  if (image.arch > capability || (isCubin && image.arch / 10 != capability / 10))
    return 0;
  return (isCubin ? 2000 : 1000) + image.arch;
}

const attune_gpu_image *cuda::chooseImage(const attune_model_desc &desc, uint32_t capability) {
  const attune_gpu_image *best = nullptr;
  for (uint32_t i = 0, rate = 0; i < desc.num_images; ++i)
    if (uint32_t own = rateImage(desc.images[i], capability); own > rate) {
      rate = own;
      best = &desc.images[i];
    }
  return best;
}

/// Fails with INCOMPATIBLE; the message has the architectures of the images, and |name| and |capability| of the GPU.
static attune_status failImages(const attune_model_desc &desc, const char *name, uint32_t capability) {
  char known[256] = "";
  for (uint32_t i = 0, used = 0; i < desc.num_images && used < sizeof(known); ++i)
    used += snprintf(known + used, sizeof(known) - used, "%ssm_%u%s", i ? ", " : "", desc.images[i].arch,
                     desc.images[i].arch_specific ? "a" : "");
  return fail(ATTUNE_INCOMPATIBLE, "model '%s' has code for %s, none of which runs on '%s' (sm_%u)", desc.name, known, name, capability);
}

attune_status CudaModel::loadImage(const attune_model_desc &desc) {
  char name[96] = "?";
  int major = 0, minor = 0, multiprocessors = 0;
  driver->deviceGetName(name, sizeof(name), device);
  ATTUNE_TRY(driver->check(driver->deviceGetAttribute(&major, computeCapabilityMajor, device), "asking for the GPU's capability"));
  ATTUNE_TRY(driver->check(driver->deviceGetAttribute(&minor, computeCapabilityMinor, device), "asking for the GPU's capability"));
  ATTUNE_TRY(driver->check(driver->deviceGetAttribute(&multiprocessors, multiprocessorCount, device), "asking for the GPU's size"));
  int64_t blocks = multiprocessors * blocksPerMultiprocessor;
  workers = blocks < 1 ? 1 : blocks < ATTUNE_MAX_THREADS ? blocks : ATTUNE_MAX_THREADS;
  uint32_t capability = 10 * major + minor;
  const attune_gpu_image *image = chooseImage(desc, capability);
  if (!image)
    return failImages(desc, name, capability);
  arch = image->arch | (image->arch_specific ? ATTUNE_ARCH_SPECIFIC : 0);
  // If the driver refuses the image, it writes the reason to |log|. The first line goes into the message.
  char log[512] = "";
  int options[] = {jitErrorLog, jitErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log) - 1)};
  Code code = driver->moduleLoad(&module, image->data, 2, options, values);
  if (code == success)
    return ATTUNE_OK;
  module = nullptr;
  log[strcspn(log, "\n")] = 0;
  char what[768];
  snprintf(what, sizeof(what), "loading the sm_%u%s %s of model '%s' on '%s'%s%s", image->arch, image->arch_specific ? "a" : "",
           image->kind == ATTUNE_IMAGE_CUBIN ? "cubin" : "PTX", desc.name, name, log[0] ? ": " : "", log);
  return driver->check(code, what);
}

attune_status CudaModel::findFunctions(const attune_model_desc &desc) {
  functions = static_cast<Function *>(calloc(desc.num_functions + 1, sizeof(Function)));
  if (!functions)
    return fail(ATTUNE_OUT_OF_MEMORY, "no memory for %u functions", desc.num_functions);
  for (uint32_t i = 0; i < desc.num_functions; ++i) {
    char what[256];
    snprintf(what, sizeof(what), "finding function '%s'", desc.functions[i].symbol);
    Code code = driver->moduleGetFunction(&functions[i], module, desc.functions[i].symbol);
    if (code == notFound) {
      functions[i] = nullptr; // in images of other architectures only
      continue;
    }
    ATTUNE_TRY(driver->check(code, what));
    // A kernel needs permission for more than 48 KiB of dynamic shared memory.
    if (desc.functions[i].shared_bytes > 48 * 1024) {
      snprintf(what, sizeof(what), "getting %u bytes of shared memory for '%s'", desc.functions[i].shared_bytes, desc.functions[i].symbol);
      ATTUNE_TRY(driver->check(
          driver->functionSetAttribute(functions[i], maxDynamicSharedBytes, static_cast<int>(desc.functions[i].shared_bytes)), what));
    }
  }
  return ATTUNE_OK;
}

attune_status CudaModel::uploadWeights(const void *hostWeights, uint64_t bytes) {
  if (!bytes)
    return ATTUNE_OK;
  // Uses a stream of its own: in the default stream the copy would wait for the caller's work, and invalidate a graph
  // that the caller captures.
  Stream stream;
  ATTUNE_TRY(driver->check(driver->streamCreate(&stream, streamNonBlocking), "making a stream"));
  char what[128];
  snprintf(what, sizeof(what), "getting %llu bytes on the GPU for weights", static_cast<unsigned long long>(bytes));
  attune_status status = driver->check(driver->memoryAllocate(&weights, bytes), what);
  if (status == ATTUNE_OK)
    status = driver->check(driver->copyToDevice(weights, hostWeights, bytes, stream), "copying the weights to the GPU");
  if (status == ATTUNE_OK)
    status = driver->check(driver->streamSynchronize(stream), "copying the weights to the GPU");
  driver->streamDestroy(stream);
  return status;
}

attune_status CudaModel::open(const attune_model_desc &desc, const void *hostWeights, int wanted) {
  ATTUNE_TRY(openDriver(driver));
  int count = 0;
  ATTUNE_TRY(driver->check(driver->deviceGetCount(&count), "counting the GPUs"));
  if (wanted < 0 || wanted >= count)
    return fail(ATTUNE_INVALID_ARGUMENT, "GPU number %d, the driver finds 0 to %d", wanted, count - 1);
  ordinal = wanted;
  ATTUNE_TRY(driver->check(driver->deviceGet(&device, ordinal), "choosing the GPU"));
  Context retained;
  ATTUNE_TRY(driver->check(driver->primaryContextRetain(&retained, device), "opening the GPU"));
  context = retained;
  ContextScope scope;
  ATTUNE_TRY(scope.enter(*driver, context));
  ATTUNE_TRY(loadImage(desc));
  ATTUNE_TRY(findFunctions(desc));
  return uploadWeights(hostWeights, desc.weights_bytes);
}

void CudaModel::close() {
  if (context) {
    ContextScope scope;
    bool isEntered = scope.enter(*driver, context) == ATTUNE_OK;
    if (isEntered && weights)
      driver->memoryFree(weights);
    if (isEntered && module)
      driver->moduleUnload(module);
  }
  if (context)
    driver->primaryContextRelease(device);
  free(functions);
}

attune_status CudaModel::load(const attune_model_desc &desc, const void *weights, int ordinal, DeviceModel *&out) {
  out = nullptr;
  void *memory = malloc(sizeof(CudaModel));
  if (!memory)
    return fail(ATTUNE_OUT_OF_MEMORY, "no memory for model '%s'", desc.name);
  CudaModel *model = new (memory) CudaModel;
  attune_status status = model->open(desc, weights, ordinal);
  if (status == ATTUNE_OK)
    out = model;
  else
    unload(model);
  return status;
}

void CudaModel::unload(DeviceModel *model) {
  static_cast<CudaModel *>(model)->close();
  free(static_cast<CudaModel *>(model));
}
