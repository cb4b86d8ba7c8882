//===- AttentionMaskedRows.cpp - Rows that see no key ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A row whose keys are all hidden comes out of the blocks with the mean over the keys that only its mask hides, since these have the
// largest scores. Where positions hide keys, too, the rules `uniform` and `least_masked` ask for others: such rows are computed again here.
// They are padding in all models known to us, so this code is short rather than fast.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/AttentionTileEmitter.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attune;

void AttentionTileEmitter::emitMaskedRows() {
  Value count = builder.createOrFold<arith::MulIOp>(loc, e.size(op.getQuery(), 0), heads);
  e.forLoop(e.index(0), count, 1, {}, [&](Value number, ValueRange) -> Values {
    Value maximum = e.loadScalar(state, {number, e.index(kMaximum)});
    Value sees = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLE, maximum, e.f32(kHidden));
    Value some = compare(arith::CmpIPredicate::sgt, keys, e.index(0));
    e.ifThen(arith::AndIOp::create(builder, loc, sees, some), [&] { emitMaskedRow(rowAt(number)); });
    return {};
  });
}

Value AttentionTileEmitter::isHiddenByPosition(const Row &row, Value key) {
  Value behind = compare(arith::CmpIPredicate::sge, key, row.end), before = compare(arith::CmpIPredicate::slt, key, row.first);
  return arith::OrIOp::create(builder, loc, behind, before);
}

Value AttentionTileEmitter::isHiddenByMask(const Row &row, Value key) {
  Value mask = op.getMask();
  if (!mask || op.getMaskFill())
    return arith::ConstantIntOp::create(builder, loc, 0, 1);
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLE, e.loadScalar(mask, maskIndices(e, op, row, key)), e.f32(kHidden));
}

/// The mean of the values of the keys that the rule names, all of them if it names none.
void AttentionTileEmitter::emitMaskedRow(const Row &row) {
  Value one = e.f32(1.0), zero = e.f32(0.0);
  bool isUniform = op.getMaskedRows() == xfmr::MaskedRows::Uniform;
  auto weightOf = [&](Value key) -> Value {
    if (isUniform)
      return one;
    Value named = arith::XOrIOp::create(builder, loc, isHiddenByMask(row, key), isHiddenByPosition(row, key));
    return arith::SelectOp::create(builder, loc, named, one, zero);
  };
  Value count = e.forLoop(e.index(0), keys, 1, {zero},
                          [&](Value key, ValueRange carried) -> Values { return {e.addf(carried[0], weightOf(key))}; })[0];
  Value none = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, count, zero);
  Value all =
      arith::SIToFPOp::create(builder, loc, builder.getF32Type(), arith::IndexCastOp::create(builder, loc, builder.getI64Type(), keys));
  Value factor = e.divf(one, arith::SelectOp::create(builder, loc, none, all, count));
  if (op.getHeadScale())
    factor = e.mulf(factor, e.loadScalar(op.getHeadScale(), row.head));
  auto finalWeight = [&](Value key) -> Value { return arith::SelectOp::create(builder, loc, none, one, weightOf(key)); };

  int64_t columns = cast<MemRefType>(op.getValue().getType()).getDimSize(1);
  VectorBuilder::forChunks(columns, [&](int64_t column, Lanes lanes) {
    Value sum = e.forLoop(e.index(0), keys, 1, {e.splat(0.0)}, [&](Value key, ValueRange carried) -> Values {
      return {e.fma(e.splat(finalWeight(key)), e.load(op.getValue(), {key, e.index(column)}, lanes), carried[0])};
    })[0];
    e.store(e.mulf(sum, e.splat(factor)), result, {row.query, row.head, e.index(column)}, lanes);
  });
  Value probabilities = op.getProbabilities();
  if (!probabilities || op.getScoreStage() != xfmr::ScoreStage::Softmax)
    return;
  e.forLoop(e.index(0), keys, 1, {}, [&](Value key, ValueRange) -> Values {
    memref::StoreOp::create(builder, loc, e.mulf(finalWeight(key), factor), probabilities, ValueRange{row.head, row.query, key});
    return {};
  });
}
