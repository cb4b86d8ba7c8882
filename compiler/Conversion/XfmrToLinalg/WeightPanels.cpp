//===- WeightPanels.cpp - Packed weights of projections -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/WeightPanels.h"
#include "compiler/Conversion/XfmrToLinalg/TokenTensors.h"

using namespace mlir;
using namespace attune;

Value attune::roundWeight(IndexBuilder &b, Value weight, xfmr::Precision precision) {
  auto type = cast<RankedTensorType>(weight.getType());
  switch (precision) {
  case xfmr::Precision::F32:
    return weight;
  case xfmr::Precision::BF16:
    return xfmr::WeightConvertOp::create(b, type.clone(b.getBF16Type()), weight);
  case xfmr::Precision::F16:
    return xfmr::WeightConvertOp::create(b, type.clone(b.getF16Type()), weight);
  case xfmr::Precision::Int8:
    return xfmr::WeightQuantizeOp::create(b, weight);
  }
  llvm_unreachable("all precisions are handled");
}

Value attune::roundWeight(IndexBuilder &b, Value weight, xfmr::WeightFormat format) {
  Type element = format.kind == xfmr::WeightFormat::Kind::BF16 ? Type(b.getBF16Type()) : Type(b.getF16Type());
  return xfmr::WeightConvertOp::create(b, cast<RankedTensorType>(weight.getType()).clone(element), weight);
}

Value attune::toF32(IndexBuilder &b, Value stored) {
  return stored.getType().isF32() ? stored : arith::ExtFOp::create(b, b.getF32Type(), stored).getResult();
}

Value attune::packWeight(IndexBuilder &b, Value rounded, const PanelLayouts &layouts) {
  Type element = cast<RankedTensorType>(rounded.getType()).getElementType();
  if (element.isF32())
    return xfmr::WeightPackOp::create(b, rounded, layouts.width);
  const LowPrecisionLayout &layout = element.isInteger(8) ? layouts.int8 : layouts.bf16;
  return xfmr::WeightPackOp::create(b, rounded, layouts.width, layout.group, layout.multiple);
}

Value attune::extractPacked(IndexBuilder &b, Value panels, Value n, Value k) {
  auto type = cast<RankedTensorType>(panels.getType());
  int64_t width = type.getDimSize(2), group = type.getRank() == 4 ? type.getDimSize(3) : 1;
  SmallVector<Value> at{b.div(n, width), b.div(k, group), b.rem(n, width)};
  if (group > 1)
    at.push_back(b.rem(k, group));
  return extract(b, panels, at);
}

/// Returns a scale or minimum as f32: the f16 (|size| 2) or f32 (|size| 4) in the |size| bytes that begin at byte
/// |byte| of group |group| of panel |panel| of |panels|.
static Value extractScale(IndexBuilder &b, Value panels, Value panel, Value group, Value byte, int64_t size) {
  Type words = b.getI32Type();
  auto constant = [&](uint32_t number) { return arith::ConstantOp::create(b, b.getI32IntegerAttr(static_cast<int32_t>(number))); };
  Value bits;
  for (int64_t i = 0; i < size; ++i) {
    Value stored = extract(b, panels, {panel, group, b.add(byte, i)});
    bool last = i + 1 == size;
    Value part = last ? arith::ExtSIOp::create(b, words, stored).getResult() : arith::ExtUIOp::create(b, words, stored).getResult();
    if (i > 0)
      part = arith::ShLIOp::create(b, part, constant(static_cast<uint32_t>(8 * i)));
    bits = bits ? arith::OrIOp::create(b, bits, part).getResult() : part;
  }
  if (size == 4)
    return arith::BitcastOp::create(b, b.getF32Type(), bits);
  return b.widenHalf(bits);
}

Value attune::extractQuantized(IndexBuilder &b, Value panels, int64_t columns, int64_t width, xfmr::WeightFormat format, Value n, Value k) {
  int64_t groupColumns = format.groupColumns(columns), scaleBytes = format.scaleBytes();
  Value panel = b.div(n, width), row = b.rem(n, width), group = b.div(k, groupColumns), column = b.rem(k, groupColumns);
  Value scale = extractScale(b, panels, panel, group, b.mul(row, scaleBytes), scaleBytes);

  // After the scales and minima, a group has its integers in runs. A run has four bytes of each row: the integers of 4
  // columns or, with 4 bits, of 8 columns, the last 4 of them in the high halves of the bytes.
  int64_t run = format.bits == 8 ? 4 : 8;
  Value byte = b.add(b.add(b.mul(b.add(b.mul(b.div(column, run), width), row), 4), b.rem(column, 4)), format.headBytes(width));
  Value stored = arith::ExtUIOp::create(b, b.getI32Type(), extract(b, panels, {panel, group, byte}));
  auto constant = [&](int64_t number) { return arith::ConstantOp::create(b, b.getI32IntegerAttr(static_cast<int32_t>(number))); };
  if (format.bits == 4) {
    Value high = b.compare(arith::CmpIPredicate::uge, b.rem(column, run), 4);
    Value shifted = b.select(high, arith::ShRUIOp::create(b, stored, constant(4)), stored);
    stored = arith::AndIOp::create(b, shifted, constant(15));
  }
  if (format.zero() != 0)
    stored = arith::SubIOp::create(b, stored, constant(format.zero()));
  Value integer = arith::SIToFPOp::create(b, b.getF32Type(), stored);
  if (!format.minima)
    return b.mulf(scale, integer);
  return b.fma(scale, integer, extractScale(b, panels, panel, group, b.add(b.mul(row, scaleBytes), width * scaleBytes), scaleBytes));
}
