//===- DecomposeExperts.cpp - Mixtures of experts as a loop over experts --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Mixtures of experts. A layer has E feed-forward networks, and every token chooses k of them. Computing all of them
// for all tokens would do E / k times the work; computing them token by token would read the weights of an expert once
// for each of its tokens. So tokens are sorted by expert, and a loop over experts computes all rows of one expert
// together, by the kernels that compute any projection. In the figure there are T = 4 tokens and E = 4 experts, k is 2,
// `0 .. 1` includes 1, and the box shows two of the T * k rows in each line:
//
//   tokens        pairs by expert             rows = input[token]     loop over experts           sum[token] +=
//   0: e2, e0     e0: 0, 3  offsets[0] = 0    +-----+ begin = 0       e0: ffn(rows 0 .. 1)  --->  share * row
//   1: e3, e2     e1: -              [1] = 2  | 0 3 |                 e1: nothing, not even read
//   2: e2, e3     e2: 0, 1, 2        [2] = 2  | 0 1 |                 e2: ffn(rows 2 .. 4)  --->  share * row
//   3: e0, e3     e3: 1, 2, 3        [3] = 5  | 2 1 |                 e3: ffn(rows 5 .. 7)  --->  share * row
//                                    [4] = 8  | 2 3 |
//                                             +-----+
//                                             T * k rows
//
// Weights. The matrices of all experts are one weight, `[E, N, K]`, which the packer lays out matrix by matrix; the
// matrix of expert e is a view that begins at e times the size of a matrix. So neither the number of layers nor that of
// experts changes the code, and weights of experts that no token chooses are not read.
//
// Invariants. Each row is added to one token, and a token gets its rows in the order of experts. On a CPU the kernels
// compute the same bits for a row whichever other rows they are given, so the result of a token does not depend on other
// tokens, nor on padding, nor on the number of threads. On a GPU, an f32 kernel sums in another order in tiles of few
// rows, so the bits of a token may depend on how many other rows its experts have. With packed tokens there are no rows
// for padding. Every buffer has at most T * k rows, which is known before the call, although the rows of one expert are
// not.
//
// Cost. A kernel call, which ends with a barrier, for each projection of each expert that a token chooses. The sort is
// serial, in O(T * k + E) steps.
//
// Hosts that cannot read tensors, those of GPUs, do not know where the rows of an expert begin, nor how many there are.
// There each expert has a list of its own with room for T tokens, filled up with -1 (here for T = 4), and the loop
// calls the kernels of every expert with the upper bound T. The kernels get the number of the expert's tokens as a
// tensor of one element, which the device reads: `attune-limit-rows` lets the thread blocks of rows past this number
// return at once.
//
//   tokens        lists, [E, T]       counts, [E]     loop over all experts
//   0: e2, e0     e0: 0  3 -1 -1      2               e0: rows = input[list]; ffn(rows); sum[token] += share * row
//   1: e3, e2     e1: -1 -1 -1 -1     0               e1: kernels whose blocks end at once
//   2: e2, e3     e2: 0  1  2 -1      3
//   3: e0, e3     e3: 1  2  3 -1      3
//
// That is E times the launches of one feed-forward network in each layer, whatever the tokens choose.
//
// Not done: to pad the rows of each expert to whole tiles and to run one kernel over all tiles, as is usual on GPUs. In
// such a kernel each block of a fixed number of rows reads the panels of its expert again; here, a block has all rows
// of its expert, up to the block sizes of a projection.
//
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/OpRemark.h"
#include "dialect/Xfmr/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::xfmr {
#define GEN_PASS_DEF_DECOMPOSEEXPERTS
#include "dialect/Xfmr/Transforms/Passes.h.inc"
} // namespace mlir::xfmr

using namespace mlir;
using namespace mlir::xfmr;

namespace {

/// An emitter of the loop over experts that replaces one `xfmr.experts`.
class ExpertLoop {
public:
  ExpertLoop(RewriterBase &rewriter, ExpertsOp op) : op(op), b(op.getLoc(), rewriter) {}

  /// Emits the loop and returns its result, the sum of the experts' outputs. If |knownCounts|, emits the second form
  /// described above, with lists, in which the host need not read tensors.
  Value run(bool knownCounts) {
    if (knownCounts)
      return addLists();
    auto groups = GroupByExpertOp::create(b, op.getChoices(), op.getShares(), op.getNumExperts());
    offsets = groups.getOffsets(), tokens = groups.getTokens(), shares = groups.getRowShares();
    rows = GatherTokensOp::create(b, op.getInput(), tokens);
    return sumOverExperts([&](Value expert, Value sum) { return addExpert(expert, sum); });
  }

private:
  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }
  Value offsetAt(Value position) {
    return arith::IndexCastOp::create(b, b.getIndexType(), tensor::ExtractOp::create(b, offsets, position));
  }

  /// Returns an empty tensor of the type of the result, with a row for each token.
  Value destination() {
    RankedTensorType type = op.getResult().getType();
    Value count = tensor::DimOp::create(b, op.getInput(), 0);
    return tensor::EmptyOp::create(b, type.getShape(), type.getElementType(), type.isDynamicDim(0) ? ValueRange(count) : ValueRange());
  }

  /// Emits the loop over all experts, and returns the sum that it carries. The sum begins with zeros; |add| emits the
  /// iteration for one expert and returns the new sum.
  Value sumOverExperts(llvm::function_ref<Value(Value expert, Value sum)> add) {
    Value zeros = linalg::FillOp::create(b, arith::ConstantOp::create(b, b.getF32FloatAttr(0)).getResult(), destination()).getResult(0);
    auto loop = scf::ForOp::create(b, index(0), index(op.getNumExperts()), index(1), zeros,
                                   [&](OpBuilder &builder, Location loc, Value expert, ValueRange carried) {
                                     ImplicitLocOpBuilder::InsertionGuard guard(b);
                                     b.setInsertionPoint(builder.getInsertionBlock(), builder.getInsertionPoint());
                                     scf::YieldOp::create(b, ValueRange(add(expert, carried[0])));
                                   });
    return loop.getResult(0);
  }

  /// Emits the second form, with a list of tokens for each expert, and returns its result.
  Value addLists() {
    auto lists = ListByExpertOp::create(b, op.getChoices(), op.getShares(), op.getNumExperts());
    Value bound = tensor::DimOp::create(b, op.getInput(), 0);
    return sumOverExperts([&](Value expert, Value sum) -> Value {
      // The count is read from a tensor of one element, so that attune-limit-rows can pass this tensor to kernels,
      // which read the count on the device.
      OpFoldResult one = b.getIndexAttr(1);
      auto own = RankedTensorType::get({1}, b.getI64Type());
      Value counted = tensor::ExtractSliceOp::create(b, own, lists.getCounts(), OpFoldResult(expert), one, one);
      Value read = arith::IndexCastOp::create(b, b.getIndexType(), tensor::ExtractOp::create(b, counted, index(0)));
      Value count = arith::MinSIOp::create(b, read, bound);
      auto list = [&](Value table) -> Value {
        auto type = cast<RankedTensorType>(table.getType());
        SmallVector<OpFoldResult> begin{expert, b.getIndexAttr(0)}, sizes{one, count}, strides{one, one};
        auto row = RankedTensorType::get({ShapedType::kDynamic}, type.getElementType());
        return tensor::ExtractSliceOp::create(b, row, table, begin, sizes, strides);
      };
      Value chosen = list(lists.getTokens());
      Value result = forward(expert, GatherTokensOp::create(b, op.getInput(), chosen));
      return AddRowsOp::create(b, sum.getType(), result, list(lists.getRowShares()), sum, chosen, /*padded=*/true);
    });
  }

  /// Returns |sum| with the outputs of |expert|, times their shares, added to the rows of the tokens that chose the
  /// expert; |sum| itself if no token did.
  Value addExpert(Value expert, Value sum) {
    Value begin = offsetAt(expert), end = offsetAt(arith::AddIOp::create(b, expert, index(1)));
    // min(count, bound), where the bound is the number of all rows, so that later passes can size buffers by the bound.
    Value count = arith::MinSIOp::create(b, arith::SubIOp::create(b, end, begin), tensor::DimOp::create(b, tokens, 0));
    Value some = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, count, index(0));
    auto branch = [&](llvm::function_ref<Value()> value) {
      return [this, value](OpBuilder &builder, Location) {
        ImplicitLocOpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(builder.getInsertionBlock(), builder.getInsertionPoint());
        scf::YieldOp::create(b, ValueRange(value()));
      };
    };
    auto add = [&]() -> Value {
      Value result = forward(expert, slice(rows, begin, count));
      return AddRowsOp::create(b, sum.getType(), result, slice(shares, begin, count), sum, slice(tokens, begin, count), /*padded=*/false);
    };
    return scf::IfOp::create(b, some, branch(add), branch([&] { return sum; })).getResult(0);
  }

  /// Returns |count| rows of |tensor| from |begin| on.
  Value slice(Value tensor, Value begin, Value count) {
    auto type = cast<RankedTensorType>(tensor.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[0] = ShapedType::kDynamic;
    SmallVector<OpFoldResult> starts(shape.size(), b.getIndexAttr(0)), strides(shape.size(), b.getIndexAttr(1));
    SmallVector<OpFoldResult> sizes = getAsIndexOpFoldResult(b.getContext(), shape);
    starts[0] = begin, sizes[0] = count;
    return tensor::ExtractSliceOp::create(b, type.clone(shape), tensor, starts, sizes, strides);
  }

  /// Returns the output of the feed-forward network of |expert| for the rows |input|.
  Value forward(Value expert, Value input) {
    auto select = [&](Value stack) -> Value { return stack ? WeightSelectOp::create(b, stack, expert).getResult() : Value(); };
    Value up = select(op.getUp()), upBias = select(op.getUpBias()), down = select(op.getDown()), downBias = select(op.getDownBias());
    Value gate = select(op.getGate()), gateBias = select(op.getGateBias());
    if (!op.getGluLimit())
      return FfnOp::create(b, op.getActivation(), input, up, down, gate, gateBias, upBias, downBias, Value());
    Value gated = LinearOp::create(b, input, gate, gateBias, Value(), Activation::None);
    Value value = LinearOp::create(b, input, up, upBias, Value(), Activation::None);
    Value inner = ClampedGluOp::create(b, gated.getType(), gated, value, op.getGluLimitAttr(), op.getGluAlphaAttr());
    return LinearOp::create(b, inner, down, downBias, Value(), Activation::None);
  }

  ExpertsOp op;
  ImplicitLocOpBuilder b;
  Value offsets, tokens, shares, rows;
};

struct DecomposeExperts : xfmr::impl::DecomposeExpertsBase<DecomposeExperts> {
  using DecomposeExpertsBase::DecomposeExpertsBase;

  void runOnOperation() override {
    SmallVector<ExpertsOp> ops;
    getOperation().walk([&](ExpertsOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (ExpertsOp op : ops) {
      passed(op, "xfmr-decompose-experts", "DecomposeExperts")
          << remark::add("{0} experts, one after the other, each for all rows of the tokens that choose it", op.getNumExperts());
      rewriter.setInsertionPoint(op);
      rewriter.replaceOp(op, ExpertLoop(rewriter, op).run(knownCounts));
    }
  }
};

} // namespace
