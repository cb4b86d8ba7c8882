//===- Operations.h - GPU operations ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The handler of an operation is found by a piece of its name, the name of an intrinsic or the text of inline PTX. The
// handler reads further variations from the name. Handlers follow the PTX manual.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_FAKECUDA_OPERATIONS_H
#define ATTUNE_TEST_FAKECUDA_OPERATIONS_H

#include "Block.h"

#include <cstring>

namespace attune::fake {

/// Executes an operation for the current thread.
using Handler = void (*)(const emulated::Operation &operation, const uint64_t *inputs, uint64_t *outputs);

struct HandlerEntry {
  const char *piece; ///< the first entry whose piece occurs in the name is used
  Handler handler;
};

/// The tables of each subject; each ends with null.
extern const HandlerEntry arithmeticHandlers[], asyncCopyHandlers[], matrixHandlers[], memoryBarrierHandlers[], warpHandlers[],
    warpgroupHandlers[];

/// Returns the handler of the operation called |name|, or null.
Handler findHandler(const char *name);

inline bool has(const emulated::Operation &operation, const char *piece) { return std::strstr(operation.name, piece) != nullptr; }

inline float toFloat(uint64_t word) {
  auto bits = static_cast<uint32_t>(word);
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}
inline uint64_t fromFloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}
/// Convert bf16 and f16 in the low half of a word to float, and back, rounded to nearest even.
inline float fromBf16(uint64_t word) { return toFloat((word & 0xffff) << 16); }
uint16_t toBf16(float value);
float fromF16(uint64_t word);
uint16_t toF16(float value);

} // namespace attune::fake

#endif // ATTUNE_TEST_FAKECUDA_OPERATIONS_H
