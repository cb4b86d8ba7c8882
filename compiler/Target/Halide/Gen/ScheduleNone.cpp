//===- ScheduleNone.cpp - Kernels by definition ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/Halide/Gen/Extent.h"
#include "compiler/Target/Halide/Gen/Schedule.h"

#include <algorithm>

using namespace attune;
using Halide::Expr;

/// The maximum size in bytes of a stage on the stack. Halide would allocate larger stages on the heap, which kernels
/// cannot do without a Halide runtime.
static constexpr int64_t kStackBytes = 16 << 10;

/// Returns an upper bound of the bytes of |stage| for one iteration of its |outer| outermost loops; nullopt if no
/// constant bound is known.
static std::optional<int64_t> bytesOf(const StageFunc &stage, size_t outer) {
  int64_t bytes = stage.func.value().type().bytes();
  for (size_t dim = 0; dim + outer < stage.extents.size(); ++dim) {
    std::optional<int64_t> most = mostOf(stage.extents[dim]);
    if (!most)
      return std::nullopt;
    bytes *= std::max<int64_t>(*most, 1);
  }
  return bytes;
}

void attune::keepOnStack(StageFunc &stage, size_t outer) {
  if (stage.isOutput)
    return;
  std::optional<int64_t> bytes = bytesOf(stage, outer);
  if (!bytes)
    throw DescriptionError("stage '" + stage.stage->name + "' may be of any size: expected bounds of its loops, or an output");
  if (*bytes > kStackBytes)
    throw DescriptionError("stage '" + stage.stage->name + "' has " + std::to_string(*bytes) + " bytes, expected at most " +
                           std::to_string(kStackBytes) + ", or an output");
  stage.func.store_in(Halide::MemoryType::Stack);
}

bool attune::fitsOnStack(const StageFunc &stage, size_t outer) {
  std::optional<int64_t> bytes = bytesOf(stage, outer);
  return bytes && *bytes <= kStackBytes;
}

void attune::scheduleNone(Algorithm &algorithm, const Plan &plan) {
  for (StageFunc &stage : algorithm.stages) {
    if (stage.isOutput)
      continue;
    std::vector<const Stage *> users = plan.usersOf(*stage.stage);
    if (fitsOnStack(stage)) {
      stage.func.compute_root();
      keepOnStack(stage);
    } else if (users.size() == 1 && !users[0]->isReduction() && users[0]->parallelLoops() != 0) {
      StageFunc &user = algorithm.at(users[0]->name);
      stage.func.compute_at(user.func, user.vars[0]).store_in(Halide::MemoryType::Stack); // one element at a time
    } else if (stage.stage->isReduction()) {
      keepOnStack(stage); // throws with the reason
    } // other stages are inlined: computed again wherever they are used
  }
}
