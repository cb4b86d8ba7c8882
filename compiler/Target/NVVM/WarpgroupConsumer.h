//===- WarpgroupConsumer.h - A tile of queries by a warpgroup ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_WARPGROUPCONSUMER_H
#define ATTUNE_COMPILER_TARGET_NVVM_WARPGROUPCONSUMER_H

#include "compiler/Target/NVVM/FlashRows.h"
#include "compiler/Target/NVVM/KeyPipeline.h"
#include "dialect/Tile/IR/TileOps.h"

namespace attune {

/// Rows of the tile of a consumer.
inline constexpr int64_t kConsumerRows = 64;

/// Emits what one consumer does.
class WarpgroupConsumer {
public:
  using Value = mlir::Value;
  using Values = ThreadBuilder::Values;

  WarpgroupConsumer(mlir::tiles::AttentionTileOp op, ThreadBuilder &e, KeyPipeline &stages, Value inGroup, Value queries)
      : op(op), e(e), tma(e), stages(stages), inGroup(inGroup), queriesAt(queries), own(op, e, e.rem(inGroup, kWarp)),
        products(e, own.cores.elementType()) {}
  /// All keys from |begin| to |end|, which are in the stages from |place| on; |group| is the number of the warpgroup, which stores what it
  /// computes if it |stores|. Returns the place of the stage that follows.
  PipelineState run(Value group, Value stores, Value begin, Value end, PipelineState place);

private:
  /// What is carried from stage to stage.
  struct Carried {
    Values state, results, weights;
    PipelineState place;
  };
  Values join(const Carried &carried);
  Carried split(mlir::ValueRange all);
  void keepQueries();
  Values startScores(PipelineState place);
  Values startResults(mlir::ValueRange results, mlir::ValueRange weights, PipelineState place);
  Values pack(llvm::ArrayRef<Value> weights);
  Values overStages(Value begin, Value end, mlir::ValueRange carried, bool areSeen);
  void release(llvm::function_ref<void()> give) { e.ifThen(e.compare(mlir::arith::CmpIPredicate::eq, inGroup, e.index(0)), give); }

  mlir::tiles::AttentionTileOp op;
  ThreadBuilder &e;
  TmaLoads tma;
  KeyPipeline &stages;
  /// The byte of the queries in the stages' memory.
  Value inGroup, queriesAt;
  FlashRows own;
  WarpgroupProducts products;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_WARPGROUPCONSUMER_H
