//===- Shard.cpp - Tensor parallelism -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Divides a model among ranks: processes that run the same code, each with its own shards of the weights. A projection
// is divided by its output features, so that each rank computes whole sums, with the same bits as a model that is not
// divided. In this figure of a layer on two ranks, x is its input, q, k, v and o are the projections of attention, and
// m is the input of o:
//
//              rank 0                    rank 1
//     x        [========]                [========]            every rank has all of x
//     q k v    [====]                         [====]           heads of the rank, in caches, too
//     heads    [====]                         [====]
//                    \--- all_gather ---/
//     m        [========]                [========]            all heads: the next sum needs them
//     x + o    [====]                         [====]           the columns of x that the rank has in o
//                    \--- all_gather ---/
//     norm     [========]                [========]            by every rank
//
// The pass visits operations in order and knows for each tensor whether a rank has all of it or a shard
// (ShardedValues). An operation with a rule computes a shard from shards. Any other operation gets whole tensors, so
// its result is right, but every rank computes all of it. Rules look only at an operation and its operands, with two
// exceptions: the attention or the cache that gets the heads of a projection decides how the projection is divided
// (HeadPlan), and a projection that scores experts is not divided.
//
// An alternative that was tried: MLIR's shard dialect annotates and partitions linalg. It has no rule for this
// dialect's operations, and its all_gather cannot be lowered.
//
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "dialect/Xfmr/Transforms/FuseEpilogues.h"
#include "dialect/Xfmr/Transforms/Passes.h"
#include "dialect/Xfmr/Transforms/ShardCaches.h"
#include "dialect/Xfmr/Transforms/ShardedValues.h"
#include "dialect/Xfmr/Transforms/WeightExpressions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::xfmr {
#define GEN_PASS_DEF_SHARD
#include "dialect/Xfmr/Transforms/Passes.h.inc"
} // namespace mlir::xfmr

using namespace mlir;
using namespace mlir::xfmr;

namespace {

/// The divisions of heads that attention and caches of a module need, computed before any operation is divided.
struct HeadPlan {
  LogicalResult add(Operation *op, int64_t ranks);

  /// Divisions of the heads of attention that is divided.
  DenseMap<Operation *, HeadDivisions> attention;
  /// Divisions of the heads of the caches of each kv_cache_update and kv_cache_read.
  DenseMap<Operation *, Division> caches;
  /// Divisions of the output features of the projections that compute these heads.
  DenseMap<Operation *, Division> projections;

private:
  void addProjection(Value heads, const Division &division);
};

/// The division of one function among ranks.
class FunctionSharder {
public:
  FunctionSharder(func::FuncOp function, const HeadPlan &plan, int64_t ranks) : function(function), plan(plan), ranks(ranks) {}
  void run();

private:
  /// Replaces |op| by an operation on shards, or gives it shards as operands. Returns false, without a change, if no
  /// rule applies.
  bool shard(Operation *op);
  bool shardLinear(LinearOp op);
  bool shardEmbedding(EmbeddingOp op);
  bool shardElementwise(Operation *op);
  bool shardSplit(SplitHeadsOp op);
  bool shardMerge(MergeHeadsOp op);
  bool shardHeads(Operation *op);
  bool shardAttention(AttentionOp op);
  bool shardUpdate(KvCacheUpdateOp op);
  bool shardRead(KvCacheReadOp op);
  bool shardDim(tensor::DimOp op);

  /// Clones |op| with |operands|, and records result i of the clone as the shard of result i of |op| by |shardings|[i].
  Operation *cloneForShard(Operation *op, ValueRange operands, ArrayRef<Sharding> shardings);

  func::FuncOp function;
  const HeadPlan &plan;
  int64_t ranks;
  ShardedValues values;
  /// Operations whose results are replaced by shards; run() erases them at the end.
  SmallVector<Operation *> replaced;
};

struct Shard : xfmr::impl::ShardBase<Shard> {
  using ShardBase::ShardBase;
  void runOnOperation() override;
};

} // namespace

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

/// Returns true if the mask and the tables of relative positions of |op|, as far as it has them, can be divided by
/// heads or are the same for all heads.
static bool hasDivisibleScores(AttentionOp op) {
  int64_t heads = op.getNumHeads();
  if (Value mask = op.getMask()) {
    auto type = cast<RankedTensorType>(mask.getType());
    // A dynamic number of heads may be 1, which is broadcast.
    if (type.getRank() == 4 && type.getDimSize(1) != 1 && type.getDimSize(1) != heads)
      return false;
  }
  for (Value table : {op.getRelativeKey(), op.getRelativeQuery()}) {
    bool ofHeads = table && (cast<RankedTensorType>(table.getType()).getRank() != 2 ||
                             cast<RankedTensorType>(table.getType()).getDimSize(1) != op.getHeadDim());
    if (ofHeads && !isWeight(table))
      return false;
  }
  return true;
}

/// Records |division|, of heads, for the projection that computes |heads|, directly or followed by operations on single
/// heads. Does nothing if no projection computes |heads| in this way.
void HeadPlan::addProjection(Value heads, const Division &division) {
  while (Operation *op = heads.getDefiningOp()) {
    if (auto split = dyn_cast<SplitHeadsOp>(op)) {
      if (auto linear = split.getInput().getDefiningOp<LinearOp>())
        projections.try_emplace(linear, division.times(split.getType().getDimSize(2)));
      return;
    }
    if (!isa<RotaryOp, RmsNormOp, LayerNormOp>(op))
      return;
    heads = op->getOperand(0);
  }
}

LogicalResult HeadPlan::add(Operation *op, int64_t ranks) {
  if (auto update = dyn_cast<KvCacheUpdateOp>(op)) {
    int64_t heads = update.getKeyCache().getType().getDimSize(1);
    Division division = divideHeads(heads, heads, ranks).keyValue;
    addProjection(update.getKey(), division);
    addProjection(update.getValue(), division);
    caches[op] = std::move(division);
  } else if (auto read = dyn_cast<KvCacheReadOp>(op)) {
    int64_t heads = read.getKeyCache().getType().getDimSize(1);
    caches[op] = divideHeads(heads, heads, ranks).keyValue;
  } else if (auto attend = dyn_cast<AttentionOp>(op)) {
    if (!hasDivisibleScores(attend)) {
      if (attend.isCached())
        return attend.emitOpError("has a mask or a table of relative positions for each head that cannot be divided among ranks");
      return success();
    }
    HeadDivisions divisions = divideHeads(attend.getNumHeads(), attend.getNumKvHeads(), ranks);
    addProjection(attend.getQuery(), divisions.query);
    if (!attend.isCached()) {
      addProjection(attend.getKey(), divisions.keyValue);
      addProjection(attend.getValue(), divisions.keyValue);
    }
    attention[op] = std::move(divisions);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

Operation *FunctionSharder::cloneForShard(Operation *op, ValueRange operands, ArrayRef<Sharding> shardings) {
  OpBuilder builder(op);
  Operation *clone = builder.clone(*op);
  clone->setOperands(operands);
  for (auto [result, shard, sharding] : llvm::zip_equal(op->getResults(), clone->getResults(), shardings)) {
    shard.setType(getShardType(cast<RankedTensorType>(result.getType()), sharding));
    values.add(result, shard, sharding);
  }
  replaced.push_back(op);
  return clone;
}

/// Returns true if the result of |op| decides which experts run. The result is small, and every rank needs all of it.
static bool choosesExperts(LinearOp op) { return llvm::any_of(op->getUsers(), llvm::IsaPred<ChooseExpertsOp>); }

bool FunctionSharder::shardLinear(LinearOp op) {
  auto planned = plan.projections.find(op);
  bool isPlanned = planned != plan.projections.end();
  int64_t features = op.getWeight().getType().getDimSize(0);
  if (!isWeight(op.getWeight()) || (op.getBias() && !isWeight(op.getBias())) || choosesExperts(op) || (!isPlanned && features < ranks))
    return false;
  Sharding columns{1, isPlanned ? planned->second : divideIndices(features, ranks)};
  Sharding rows{0, columns.division};
  OpBuilder builder(op);
  Value input = values.getWhole(op.getInput()), weight = values.getShard(op, op.getWeight(), rows);
  Value bias = values.getShard(op, op.getBias(), rows), multiplier = values.getShard(op, op.getMultiplier(), columns);
  Value residual = values.getShard(op, op.getResidual(), columns);
  auto local = LinearOp::create(builder, op.getLoc(), input, weight, bias, multiplier, residual, op.getActivation(), op.getPrecision(),
                                op.getFormatAttr());
  values.add(op.getResult(), local.getResult(), columns);
  replaced.push_back(op);
  return true;
}

bool FunctionSharder::shardEmbedding(EmbeddingOp op) {
  int64_t columns = op.getTable().getType().getDimSize(1);
  if (!isWeight(op.getTable()) || columns < ranks)
    return false;
  Sharding sharding{1, divideIndices(columns, ranks)};
  cloneForShard(op, {values.getWhole(op.getIds()), values.getShard(op, op.getTable(), sharding)}, sharding);
  return true;
}

/// Divides an operation that computes each element from the elements with the same indices in its operands, if all
/// operands are divided in the same way.
bool FunctionSharder::shardElementwise(Operation *op) {
  const Sharding *first = values.find(op->getOperand(0));
  if (!first || !isa<RankedTensorType>(op->getResult(0).getType()))
    return false;
  Sharding sharding = *first;
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    const Sharding *other = values.find(operand);
    if (!other || !(*other == sharding))
      return false;
    operands.push_back(values.getShard(operand));
  }
  cloneForShard(op, operands, sharding);
  return true;
}

bool FunctionSharder::shardSplit(SplitHeadsOp op) {
  const Sharding *input = values.find(op.getInput());
  int64_t size = op.getType().getDimSize(2);
  if (!input || !input->division.isDivisibleBy(size))
    return false;
  Sharding heads{1, input->division.dividedBy(size)};
  auto *split = cloneForShard(op, values.getShard(op.getInput()), heads);
  cast<SplitHeadsOp>(split).setNumHeads(heads.division.size);
  return true;
}

bool FunctionSharder::shardMerge(MergeHeadsOp op) {
  const Sharding *input = values.find(op.getInput());
  if (!input || input->axis != 1)
    return false;
  Sharding columns{1, input->division.times(op.getInput().getType().getDimSize(2))};
  cloneForShard(op, values.getShard(op.getInput()), columns);
  return true;
}

/// Divides an operation that treats each head separately: rotary embeddings, or a norm of heads. Operands other than
/// the heads are whole.
bool FunctionSharder::shardHeads(Operation *op) {
  const Sharding *input = values.find(op->getOperand(0));
  if (!input || input->axis != 1 || cast<RankedTensorType>(op->getResult(0).getType()).getRank() != 3)
    return false;
  Sharding heads = *input;
  SmallVector<Value> operands{values.getShard(op->getOperand(0))};
  for (Value operand : op->getOperands().drop_front())
    operands.push_back(values.getWhole(operand));
  cloneForShard(op, operands, heads);
  return true;
}

bool FunctionSharder::shardAttention(AttentionOp op) {
  auto planned = plan.attention.find(op);
  if (planned == plan.attention.end())
    return false;
  const HeadDivisions &divisions = planned->second;
  // shardCaches has changed the number of heads of key caches already, so only the query has the number of all heads.
  int64_t heads = op.getNumHeads(), size = op.getHeadDim();
  Sharding query{1, divisions.query}, keyValue{1, divisions.keyValue}, first{0, divisions.query};
  Sharding columns{1, divisions.query.times(size)};
  SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), [&](Value operand) { return values.getWhole(operand); });
  auto replace = [&](OperandRange range, const Sharding &sharding) {
    if (!range.empty())
      operands[range.getBeginOperandIndex()] = values.getShard(op, range.front(), sharding);
  };
  auto sizeOf = [](OperandRange range, int64_t dim) { return cast<RankedTensorType>(range.front().getType()).getDimSize(dim); };
  auto rankOf = [](OperandRange range) { return cast<RankedTensorType>(range.front().getType()).getRank(); };
  replace(op.getODSOperands(0), query);
  if (!op.isCached()) {
    replace(op.getODSOperands(1), keyValue);
    replace(op.getODSOperands(2), keyValue);
  }
  Value mask = op.getMask(), headMask = op.getHeadMask(), bias = op.getDistanceBias(), sinks = op.getSinks();
  for (unsigned group = 3; group != 15; ++group) {
    OperandRange range = op.getODSOperands(group);
    if (range.empty())
      continue;
    Value operand = range.front();
    if (operand == mask && rankOf(range) == 4 && sizeOf(range, 1) == heads && heads != 1)
      replace(range, query);
    else if (operand == headMask || operand == sinks || (operand == bias && sizeOf(range, 0) == heads && heads != 1))
      replace(range, first);
    else if ((operand == op.getRelativeKey() || operand == op.getRelativeQuery()) && sizeOf(range, 1) != size)
      replace(range, columns);
  }
  SmallVector<Sharding> results(op->getNumResults(), query);
  cloneForShard(op, operands, results);
  return true;
}

bool FunctionSharder::shardUpdate(KvCacheUpdateOp op) {
  // shardCaches has changed the types of the caches already.
  Sharding heads{1, plan.caches.lookup(op)};
  op.getKeyMutable().assign(values.getShard(op, op.getKey(), heads));
  op.getValueMutable().assign(values.getShard(op, op.getValue(), heads));
  return true;
}

bool FunctionSharder::shardRead(KvCacheReadOp op) {
  Sharding heads{1, plan.caches.lookup(op)};
  cloneForShard(op, op->getOperands(), {heads, heads});
  return true;
}

bool FunctionSharder::shardDim(tensor::DimOp op) {
  const Sharding *sharding = values.find(op.getSource());
  std::optional<int64_t> dim = op.getConstantIndex();
  if (!sharding || !dim || *dim == sharding->axis)
    return false;
  op.getSourceMutable().assign(values.getShard(op.getSource()));
  return true;
}

bool FunctionSharder::shard(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](LinearOp linear) { return shardLinear(linear); })
      .Case([&](EmbeddingOp embedding) { return shardEmbedding(embedding); })
      .Case<ActivationOp, arith::AddFOp, arith::SubFOp, arith::MulFOp>([&](Operation *) { return shardElementwise(op); })
      .Case([&](SplitHeadsOp split) { return shardSplit(split); })
      .Case([&](MergeHeadsOp merge) { return shardMerge(merge); })
      .Case<RotaryOp, RmsNormOp, LayerNormOp>([&](Operation *) { return shardHeads(op); })
      .Case([&](AttentionOp attention) { return shardAttention(attention); })
      .Case([&](KvCacheUpdateOp update) { return shardUpdate(update); })
      .Case([&](KvCacheReadOp read) { return shardRead(read); })
      .Case([&](tensor::DimOp dim) { return shardDim(dim); })
      .Default([](Operation *) { return false; });
}

void FunctionSharder::run() {
  SmallVector<Operation *> ops;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    if (!shard(op))
      for (OpOperand &operand : op->getOpOperands())
        operand.set(values.getWhole(operand.get()));
  for (Operation *op : llvm::reverse(replaced))
    op->erase();
}

void Shard::runOnOperation() {
  ModuleOp module = getOperation();
  int64_t count = ranks == 0 ? getRanks(module) : ranks;
  if (count < 1) {
    module.emitError("expects a positive number of ranks, but got ") << count;
    return signalPassFailure();
  }
  if (count == 1)
    return;
  // Epilogues are fused as on one rank, before gathers stand between projections and their users: the bits of a sum of
  // many features depend on where its residual is added (xfmr-split-deep-projections). An addition that no projection
  // takes is moved into a norm only after the model is divided, since an addition keeps tensors divided and a norm of
  // tokens does not.
  RewritePatternSet patterns(&getContext());
  populateEpiloguePatterns(patterns);
  if (failed(applyPatternsGreedily(module, std::move(patterns))))
    return signalPassFailure();
  HeadPlan plan;
  WalkResult walk = module.walk([&](Operation *op) { return WalkResult(plan.add(op, count)); });
  if (walk.wasInterrupted() || failed(shardCaches(module, count)))
    return signalPassFailure();
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal())
      FunctionSharder(function, plan, count).run();
  setRanks(module, count);
}
