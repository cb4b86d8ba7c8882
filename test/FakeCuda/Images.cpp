//===- Images.cpp - Shared objects in the place of device code -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Images.h"
#include "Operations.h"

#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace attune;
using namespace attune::fake;

void *attune::fake::loadLibrary(const void *image, std::string &problem) {
  const auto *bytes = static_cast<const unsigned char *>(image);
  if (std::memcmp(bytes,
                  "\x7f"
                  "ELF",
                  4) != 0) {
    problem = "the fake driver has no compiler for PTX";
    return nullptr;
  }
  // The image ends after the section headers, which linkers write last.
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

bool attune::fake::resolve(const emulated::Image &image, std::string &problem) {
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

void attune::fake::showSymbols() {
  Dl_info info;
  static bool isShown =
      dladdr(reinterpret_cast<void *>(&showSymbols), &info) && dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
  (void)isShown;
}
