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
  Value count = e.mul(e.size(op.getQuery(), 0), heads);
  e.loop(e.index(0), count, 1, [&](Value number) {
    Value maximum = e.loadScalar(state, {number, e.index(kMaximum)});
    Value sees = e.compare(arith::CmpFPredicate::OLE, maximum, e.f32(kHidden));
    Value some = e.compare(arith::CmpIPredicate::sgt, keys, 0);
    e.ifThen(e.both(sees, some), [&] { emitMaskedRow(rowAt(number)); });
  });
}

Value AttentionTileEmitter::isHiddenByPosition(const Row &row, Value key) {
  Value behind = e.compare(arith::CmpIPredicate::sge, key, row.end), before = e.compare(arith::CmpIPredicate::slt, key, row.first);
  return e.either(behind, before);
}

Value AttentionTileEmitter::isHiddenByMask(const Row &row, Value key) {
  Value mask = op.getMask();
  if (!mask || op.getMaskFill())
    return e.no();
  return e.compare(arith::CmpFPredicate::OLE, e.loadScalar(mask, maskIndices(e, op, row, key)), e.f32(kHidden));
}

/// The mean of the values of the keys that the rule names, all of them if it names none.
void AttentionTileEmitter::emitMaskedRow(const Row &row) {
  Value one = e.f32(1.0), zero = e.f32(0.0);
  bool isUniform = op.getMaskedRows() == xfmr::MaskedRows::Uniform;
  auto weightOf = [&](Value key) -> Value {
    if (isUniform)
      return one;
    Value named = arith::XOrIOp::create(e, isHiddenByMask(row, key), isHiddenByPosition(row, key));
    return e.select(named, one, zero);
  };
  Value count =
      e.loop(e.index(0), keys, 1, {zero}, [&](Value key, ValueRange carried) -> Values { return {e.addf(carried[0], weightOf(key))}; })[0];
  Value none = e.compare(arith::CmpFPredicate::OEQ, count, zero);
  Value all = arith::SIToFPOp::create(e, e.getF32Type(), e.toI64(keys));
  Value factor = e.divf(one, e.select(none, all, count));
  if (op.getHeadScale())
    factor = e.mulf(factor, e.loadScalar(op.getHeadScale(), row.head));
  auto finalWeight = [&](Value key) -> Value { return e.select(none, one, weightOf(key)); };

  int64_t columns = cast<MemRefType>(op.getValue().getType()).getDimSize(1);
  VectorBuilder::forChunks(columns, [&](int64_t column, Lanes lanes) {
    Value sum = e.loop(e.index(0), keys, 1, {e.splat(0.0)}, [&](Value key, ValueRange carried) -> Values {
      return {e.fma(e.splat(finalWeight(key)), e.load(op.getValue(), {key, e.index(column)}, lanes), carried[0])};
    })[0];
    e.store(e.mulf(sum, e.splat(factor)), result, {row.query, row.head, e.index(column)}, lanes);
  });
  Value probabilities = op.getProbabilities();
  if (!probabilities || op.getScoreStage() != xfmr::ScoreStage::Softmax)
    return;
  e.loop(e.index(0), keys, 1, [&](Value key) {
    memref::StoreOp::create(e, e.mulf(finalWeight(key), factor), probabilities, ValueRange{row.head, row.query, key});
  });
}
