//===- MaskOps.cpp - Attention masks as linalg ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/GroupedPattern.h"
#include "compiler/Conversion/XfmrToLinalg/TokenTensors.h"

#include <limits>

using namespace mlir;
using namespace attune;

namespace {

/// additive_mask -> (1 - mask) * lowest, rounded as in the reference models.
Values convertAdditiveMask(IndexBuilder &b, xfmr::AdditiveMaskOp op, xfmr::AdditiveMaskOp::Adaptor adaptor, KernelGroups &groups) {
  Value mask = adaptor.getMask(), destination = tensor::EmptyOp::create(b, op.getType(), dynamicSizes(b, mask));
  Type f32 = b.getF32Type();
  Value one = b.f32(1.0), lowest = b.f32(std::numeric_limits<float>::lowest());
  AffineMap identity = b.getMultiDimIdentityMap(op.getType().getRank());
  Value result = generic(b, mask, identity, destination, [&](ValueRange args) -> Value {
    Value visible = arith::SIToFPOp::create(b, f32, args[0]);
    Value hidden = b.subf(one, visible);
    return b.mulf(hidden, lowest);
  });
  groups.mark(result.getDefiningOp(), "additive mask");
  return {result};
}

} // namespace

void attune::populateMaskPatterns(RewritePatternSet &patterns, KernelGroups &groups) {
  addConversion(patterns, groups, convertAdditiveMask);
}
