//===- RandomModule.h - Small modules made of random decisions --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_FUZZ_RANDOMMODULE_H
#define ATTUNE_TEST_FUZZ_RANDOMMODULE_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace attune {

/// Returns the text of a module with one entry that applies one to four layers to the tokens of a batch. A layer is a
/// projection, a feed-forward, a norm, an attention with masks, biases and windows, an activation or a softmax. |data|
/// decides on the layers, their sizes and attributes, by one byte for each decision; after its end, all decisions are
/// 0. A few decisions make the module invalid, such as a weight of a wrong size.
std::string makeRandomModule(const uint8_t *data, size_t size);

} // namespace attune

#endif // ATTUNE_TEST_FUZZ_RANDOMMODULE_H
