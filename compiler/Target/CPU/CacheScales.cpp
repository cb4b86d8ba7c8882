//===- CacheScales.cpp - Scales of cached i8 in vector code ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/CacheScales.h"
#include "dialect/Xfmr/IR/CacheLayout.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;
using Values = VectorBuilder::Values;

Value attune::maxOfLanes(VectorBuilder &b, Value largest) { return vector::ReductionOp::create(b, vector::CombiningKind::MAXSI, largest); }

IntegerScale attune::broadcast(VectorBuilder &b, const IntegerScale &scale) {
  auto flags = VectorType::get({VectorBuilder::kLanes}, b.getI1Type());
  return {b.splat(scale.scale), b.splat(scale.inverse), vector::BroadcastOp::create(b, flags, scale.isFinite)};
}

IntegerScale attune::getScaleOfRow(VectorBuilder &b, Value rows, Value row) {
  int64_t size = cast<MemRefType>(rows.getType()).getDimSize(1), whole = size / VectorBuilder::kLanes * VectorBuilder::kLanes;
  auto take = [&](Value column, Lanes lanes, Value largest) { return maxMagnitude(b, b.load(rows, {row, column}, lanes), largest); };
  Value largest = arith::ConstantOp::create(b, b.getZeroAttr(VectorType::get({VectorBuilder::kLanes}, b.getI32Type())));
  largest = b.loop(b.index(0), b.index(whole), VectorBuilder::kLanes, {largest},
                   [&](Value column, ValueRange carried) -> Values { return {take(column, Lanes::all(), carried[0])}; })[0];
  if (whole < size)
    largest = take(b.index(whole), Lanes::first(size - whole), largest);
  return getIntegerScale(b, maxOfLanes(b, largest));
}

Value attune::loadScales(VectorBuilder &b, Value buffer, ValueRange indices, int64_t count) {
  auto bytes = VectorType::get({count * xfmr::kCacheScaleBytes}, b.getI8Type());
  Value scales = vector::BitCastOp::create(b, VectorType::get({count}, b.getF32Type()), vector::LoadOp::create(b, bytes, buffer, indices));
  return count == 1 ? vector::ExtractOp::create(b, scales, int64_t(0)).getResult() : scales;
}

void attune::storeScales(VectorBuilder &b, Value scales, Value buffer, ValueRange indices) {
  if (!isa<VectorType>(scales.getType()))
    scales = vector::BroadcastOp::create(b, VectorType::get({1}, b.getF32Type()), scales);
  int64_t count = cast<VectorType>(scales.getType()).getDimSize(0);
  auto bytes = VectorType::get({count * xfmr::kCacheScaleBytes}, b.getI8Type());
  vector::StoreOp::create(b, vector::BitCastOp::create(b, bytes, scales), buffer, indices);
}
