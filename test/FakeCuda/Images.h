//===- Images.h - Shared objects in the place of device code ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_FAKECUDA_IMAGES_H
#define ATTUNE_TEST_FAKECUDA_IMAGES_H

#include "test/FakeCuda/Block.h"

#include <string>

namespace attune::fake {

/// Loads the shared object at |image|; its headers have its length. Returns null and the reason if it is none.
void *loadLibrary(const void *image, std::string &problem);

/// Finds the handlers of the operations of |image|.
bool resolve(const emulated::Image &image, std::string &problem);

/// Makes this library's symbols, and those of the C library's mathematics, visible to images.
void showSymbols();

} // namespace attune::fake

#endif // ATTUNE_TEST_FAKECUDA_IMAGES_H
