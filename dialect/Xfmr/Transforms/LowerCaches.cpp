//===- LowerCaches.cpp - Caches of bf16, f16 or i8 ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects caches of f32. Leaves caches whose elements have the type that the option `type` names: arguments and results
// of entries and of the functions that they call, and the operands and results of operations on caches. Caches of masks
// stay f32.
//
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/XfmrOps.h"
#include "dialect/Xfmr/Transforms/CacheValues.h"
#include "dialect/Xfmr/Transforms/Passes.h"

namespace mlir::xfmr {
#define GEN_PASS_DEF_LOWERCACHES
#include "dialect/Xfmr/Transforms/Passes.h.inc"
} // namespace mlir::xfmr

using namespace mlir;
using namespace mlir::xfmr;

namespace {

struct LowerCaches : xfmr::impl::LowerCachesBase<LowerCaches> {
  using LowerCachesBase::LowerCachesBase;

  void runOnOperation() override {
    if (type == Precision::F32)
      return;
    WalkResult reads = getOperation().walk([](KvCacheReadOp op) {
      op.emitOpError("reads caches of f32, which cannot be kept in another type");
      return WalkResult::interrupt();
    });
    CacheValues caches(getOperation());
    if (reads.wasInterrupted() || failed(caches.collect("kept in another type")))
      return signalPassFailure();
    Builder builder(&getContext());
    Type element = type == Precision::BF16  ? Type(builder.getBF16Type())
                   : type == Precision::F16 ? Type(builder.getF16Type())
                                            : Type(builder.getI8Type());
    caches.setTypes([&](RankedTensorType type) {
      SmallVector<int64_t> shape(type.getShape());
      // The components are dimension 3 of the caches of keys and of values; with int8 they include the bytes of a
      // scale.
      shape[3] += getScaleBytes(element);
      return type.getElementType().isF32() ? RankedTensorType::get(shape, element) : type;
    });
  }
};

} // namespace
