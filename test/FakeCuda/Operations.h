//===- Operations.h - Operations that only GPUs have ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The name of an operation is the name of an intrinsic of NVPTX or the text of inline PTX. Its handler is found by a
// piece of the name, and reads modifiers such as `.trans` from the rest. Handlers follow the PTX manual.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_FAKECUDA_OPERATIONS_H
#define ATTUNE_TEST_FAKECUDA_OPERATIONS_H

#include "Block.h"

#include <cstring>

namespace attune::fake {

/// A function that executes an operation for the running thread. |inputs| and |outputs| are words as in attune_emulate.
using Handler = void (*)(const emulated::Operation &operation, const uint64_t *inputs, uint64_t *outputs);

struct HandlerEntry {
  const char *piece; ///< an operation uses the first entry whose piece is in its name
  Handler handler;
};

/// The tables of handlers, one for each subject. The last entry of each is null.
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
/// These functions convert the low 16 bits of a word from bf16 or f16 to f32, and f32 to bf16 or f16, to nearest, ties
/// to even.
inline float fromBf16(uint64_t word) { return toFloat((word & 0xffff) << 16); }
uint16_t toBf16(float value);
float fromF16(uint64_t word);
uint16_t toF16(float value);

} // namespace attune::fake

#endif // ATTUNE_TEST_FAKECUDA_OPERATIONS_H
