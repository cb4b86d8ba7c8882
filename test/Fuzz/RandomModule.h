//===- RandomModule.h - Small modules made of random decisions --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_FUZZ_RANDOMMODULE_H
#define ATTUNE_TEST_FUZZ_RANDOMMODULE_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace attune {

/// Returns the text of a module with one entry over the tokens of a batch, built of layers of the dialect: projections,
/// feed-forwards, norms, attention with masks, biases and windows. |data| decides on the layers, their sizes and
/// attributes. One decision in some dozens makes the module invalid.
std::string makeRandomModule(const uint8_t *data, size_t size);

} // namespace attune

#endif // ATTUNE_TEST_FUZZ_RANDOMMODULE_H
