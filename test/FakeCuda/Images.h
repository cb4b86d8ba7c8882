//===- Images.h - Shared objects in the place of device code ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_FAKECUDA_IMAGES_H
#define ATTUNE_TEST_FAKECUDA_IMAGES_H

#include "test/FakeCuda/Block.h"

#include <string>

namespace attune::fake {

/// Loads the shared object at |image|, whose length follows from its ELF headers, and returns its handle. Returns null
/// and sets |problem| if |image| is not an ELF file or cannot be loaded.
void *loadLibrary(const void *image, std::string &problem);

/// Sets the handlers of the operations of |image|. Returns false and sets |problem| if an operation has no handler.
bool resolve(const emulated::Image &image, std::string &problem);

/// Makes the symbols of this library and of the libraries that it is linked to, such as libm, visible to the shared
/// objects that loadLibrary loads.
void showSymbols();

} // namespace attune::fake

#endif // ATTUNE_TEST_FAKECUDA_IMAGES_H
