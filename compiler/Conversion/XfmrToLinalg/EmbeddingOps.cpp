//===- EmbeddingOps.cpp - Embeddings as linalg ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/GroupedPattern.h"
#include "compiler/Conversion/XfmrToLinalg/TokenTensors.h"

using namespace mlir;
using namespace attune;

namespace {

Values convertEmbedding(IndexBuilder &b, xfmr::EmbeddingOp op, xfmr::EmbeddingOp::Adaptor adaptor, KernelGroups &groups) {
  Value result = gatherRows(b, op.getType(), adaptor.getTable(), adaptor.getIds());
  auto table = op.getTable().getType();
  groups.mark(result.getDefiningOp(), "embedding " + Twine(table.getDimSize(0)) + " x " + Twine(table.getDimSize(1)));
  return {result};
}

} // namespace

void attune::populateEmbeddingPatterns(RewritePatternSet &patterns, KernelGroups &groups) {
  addConversion(patterns, groups, convertEmbedding);
}
