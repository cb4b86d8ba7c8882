//===- Driver.cpp - Opening the CUDA driver -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "../Error.h"

#include <dlfcn.h>
#include <pthread.h>

// Weak references, so that a statically linked program links without these functions. Such a program cannot open the
// driver.
#pragma weak dlopen
#pragma weak dlsym
#pragma weak dlerror
#pragma weak dlclose

using namespace attune;
using namespace attune::cuda;

/// Sets all functions of |driver| to those of |library|. Fails with INCOMPATIBLE if one is missing.
static attune_status findFunctions(void *library, Driver &driver) {
#define ATTUNE_CUDA_FIND(name, symbol, parameters)                                                                                         \
  driver.name = reinterpret_cast<Code(*) parameters>(dlsym(library, symbol));                                                              \
  if (!driver.name)                                                                                                                        \
    return fail(ATTUNE_INCOMPATIBLE, "libcuda.so.1 has no function %s: the NVIDIA driver is too old", symbol);
  ATTUNE_CUDA_FUNCTIONS(ATTUNE_CUDA_FIND)
#undef ATTUNE_CUDA_FIND
  return ATTUNE_OK;
}

static attune_status openLibrary(Driver &driver) {
  if (!dlopen || !dlsym || !dlerror || !dlclose)
    return fail(ATTUNE_INCOMPATIBLE, "a model for a GPU needs libcuda.so.1, which a statically linked program cannot open");
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return fail(ATTUNE_INCOMPATIBLE, "a model for a GPU needs the NVIDIA driver: %s", dlerror());
  attune_status status = findFunctions(library, driver);
  Code code = status == ATTUNE_OK ? driver.init(0) : success;
  if (code == noDevice)
    status = fail(ATTUNE_INCOMPATIBLE, "a model for a GPU needs one, the NVIDIA driver finds none");
  else if (status == ATTUNE_OK)
    status = driver.check(code, "starting the NVIDIA driver");
  if (status != ATTUNE_OK)
    dlclose(library);
  return status;
}

attune_status cuda::openDriver(const Driver *&out) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static Driver driver;
  static bool isOpen = false;
  out = nullptr;
  pthread_mutex_lock(&mutex);
  attune_status status = isOpen ? ATTUNE_OK : openLibrary(driver);
  isOpen = status == ATTUNE_OK;
  pthread_mutex_unlock(&mutex);
  if (status == ATTUNE_OK)
    out = &driver;
  return status;
}

attune_status Driver::check(Code code, const char *what) const {
  if (code == success)
    return ATTUNE_OK;
  const char *name = nullptr;
  if (getErrorName(code, &name) != success || !name)
    name = "an unknown error";
  return fail(code == outOfMemory ? ATTUNE_OUT_OF_MEMORY : ATTUNE_DEVICE_ERROR, "%s failed: %s (%d)", what, name, code);
}
