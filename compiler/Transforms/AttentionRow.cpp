//===- AttentionRow.cpp - The keys that a row of attention sees -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/AttentionRow.h"

using namespace mlir;
using namespace attune;

AttentionRow attune::makeAttentionRow(IndexBuilder &b, tiles::AttentionTileOp op, Value query, Value head, Value keys) {
  AttentionRow row{query, head, {}, {}, {}};
  if (!op.getPosition())
    return row;
  row.position = b.add(op.getPosition(), row.query);
  if (!op.hidesByPosition())
    return row;
  row.first = b.index(0);
  row.end = keys;
  if (op.getCausal() || op.getWindowRight()) {
    int64_t ahead = op.getCausal() ? 0 : static_cast<int64_t>(*op.getWindowRight());
    row.end = b.max(b.min(b.add(row.position, ahead + 1), keys), b.index(0));
  }
  if (op.getWindowLeft())
    row.first = b.max(b.add(row.position, -static_cast<int64_t>(*op.getWindowLeft())), b.index(0));
  return row;
}

Value attune::broadcastRow(IndexBuilder &b, Value buffer, int64_t dim, Value row) {
  auto type = cast<MemRefType>(buffer.getType());
  if (type.getDimSize(dim) == 1)
    return b.index(0);
  return type.isDynamicDim(dim) ? b.min(row, b.add(b.size(buffer, dim), -1)) : row;
}

SmallVector<Value> attune::maskIndices(IndexBuilder &b, tiles::AttentionTileOp op, const AttentionRow &row, Value key) {
  Value mask = op.getMask();
  int64_t rank = cast<MemRefType>(mask.getType()).getRank();
  SmallVector<Value> at{key};
  if (rank > 1)
    at.insert(at.begin(), broadcastRow(b, mask, rank - 2, row.query));
  if (rank > 2)
    at.insert(at.begin(), broadcastRow(b, mask, 0, row.head));
  return at;
}
