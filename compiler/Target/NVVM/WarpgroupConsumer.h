//===- WarpgroupConsumer.h - A tile of queries by a warpgroup ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_WARPGROUPCONSUMER_H
#define ATTUNE_COMPILER_TARGET_NVVM_WARPGROUPCONSUMER_H

#include "compiler/Target/NVVM/FlashRows.h"
#include "compiler/Target/NVVM/KeyPipeline.h"
#include "dialect/Tile/IR/TileOps.h"

namespace attune {

/// Rows of a consumer's tile: pairs of a query and a head.
inline constexpr int64_t kConsumerRows = 64;

/// Emits the code of one consumer: one query tile by one warpgroup.
class WarpgroupConsumer {
public:
  using Value = mlir::Value;
  using Values = ThreadBuilder::Values;

  WarpgroupConsumer(mlir::tiles::AttentionTileOp op, ThreadBuilder &e, KeyPipeline &stages, Value inGroup, Value queries)
      : op(op), e(e), tma(e), stages(stages), inGroup(inGroup), queriesAt(queries), own(op, e, e.rem(inGroup, kWarp)),
        products(e, own.cores.elementType()) {}
  /// Computes attention over the keys [begin, end), which are in the stages from |place| on. |group| is the number of
  /// the warpgroup in the block, and of the named barrier that it uses; |stores| is that of FlashRows::take. Returns
  /// the state of the pipeline after these stages.
  PipelineState run(Value group, Value stores, Value begin, Value end, PipelineState place);

private:
  /// The values that loops over stages carry. |state| and |results| begin as FlashRows::initialState and initialResults,
  /// and each stage updates them. |place| is the last stage whose scores were computed, and |weights| are its unnormalized
  /// probabilities, rounded and packed into operands of wgmma; their product with the values of that stage is not yet in
  /// |results|. After the last product |weights| is empty and |place| is the next stage.
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
  /// The thread's number in the warpgroup, and the byte offset in |stages|.words of the queries, which lie behind the
  /// stages.
  Value inGroup, queriesAt;
  FlashRows own;
  WarpgroupProducts products;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_WARPGROUPCONSUMER_H
