//===- WideInputs.cpp - Conversion of I32 inputs to I64 -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "WideInputs.h"
#include "../Descriptor.h"
#include "Arena.h"

#include <algorithm>

using namespace attune;

/// Returns the number of elements of |tensor| if it is I32 with a valid shape and aligned data of that size, else -1.
static int64_t countNarrow(const attune_tensor &tensor) {
  if (dtypeOf(tensor) != ATTUNE_I32 || tensor.rank > ATTUNE_MAX_RANK || (tensor.rank && !tensor.shape) || !tensor.data ||
      reinterpret_cast<uintptr_t>(tensor.data) % sizeof(int32_t))
    return -1;
  int64_t count = 1;
  for (uint32_t axis = 0; axis < tensor.rank; ++axis)
    if (tensor.shape[axis] < 1 || __builtin_mul_overflow(count, tensor.shape[axis], &count))
      return -1;
  return static_cast<uint64_t>(count) <= tensor.bytes / sizeof(int32_t) ? count : -1;
}

attune_status WideInputs::open(TensorList inputs) {
  tensors = inputs;
  if (!inputs.tensors || std::none_of(inputs.tensors, inputs.tensors + inputs.count, [](auto &tensor) { return countNarrow(tensor) >= 0; }))
    return ATTUNE_OK;
  // The first pass measures the memory, the second converts.
  Arena arena;
  for (bool measures : {true, false}) {
    auto *list = arena.take<attune_tensor>(static_cast<int64_t>(inputs.count));
    if (list)
      std::copy_n(inputs.tensors, inputs.count, list);
    for (size_t i = 0; i < inputs.count; ++i) {
      int64_t count = countNarrow(inputs.tensors[i]);
      int64_t *wide = count >= 0 ? arena.take<int64_t>(count) : nullptr;
      if (!wide)
        continue;
      std::copy_n(static_cast<const int32_t *>(inputs.tensors[i].data), count, wide);
      list[i].dtype = ATTUNE_I64;
      list[i].data = wide;
      list[i].bytes = static_cast<size_t>(count) * sizeof(int64_t);
    }
    if (measures) {
      ATTUNE_TRY(memory.allocate(arena.getBytes()));
      arena = Arena(memory.get());
      continue;
    }
    tensors.tensors = list;
  }
  return ATTUNE_OK;
}
