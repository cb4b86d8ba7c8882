//===- QuantizedRows.cpp - Merging and folding of quantize_rows -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects linalg on tensors, with a `tile.quantize_rows` for each projection of lower precision and for rows that are
// rounded for attention. Leaves one `tile.quantize_rows` for all projections of a block that read the same rows in the
// same type and groups, and none where the operation that computes the rows can store them rounded. Numerics: exact.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/XfmrToLinalg.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace attune;

/// Lets the elementwise op that computes the input of |op| store rounded results, and erases |op|. Changes nothing and
/// returns false if the input is not computed by such an op, if it has a reader other than |op| and `tensor.dim`, or if
/// |op| computes scales or pads the columns.
static bool storeRounded(tiles::QuantizeRowsOp op) {
  auto producer = op.getInput().getDefiningOp<linalg::GenericOp>();
  auto quantized = cast<RankedTensorType>(op.getQuantized().getType());
  auto reads = [&](Operation *user) { return user != op && !isa<tensor::DimOp>(user); };
  if (!producer || op.getScales() || llvm::any_of(op.getInput().getUsers(), reads) || producer.getNumResults() != 1 ||
      producer.getNumParallelLoops() != producer.getNumLoops() || producer.payloadUsesValueFromOperand(producer.getDpsInitOperand(0)) ||
      quantized.getDimSize(1) != cast<RankedTensorType>(op.getInput().getType()).getDimSize(1))
    return false;
  producer.getResult(0).replaceUsesWithIf(producer.getDpsInits()[0], [](OpOperand &use) { return isa<tensor::DimOp>(use.getOwner()); });
  OpBuilder builder(op);
  Location loc = producer.getLoc();
  Type element = quantized.getElementType();
  auto body = [&](OpBuilder &b, Location loc, ValueRange args) {
    IRMapping mapping;
    mapping.map(producer.getBody()->getArguments(), args);
    for (Operation &nested : producer.getBody()->without_terminator())
      b.clone(nested, mapping);
    Value value = mapping.lookupOrDefault(producer.getBody()->getTerminator()->getOperand(0));
    value = arith::TruncFOp::create(b, loc, element.isF16() ? b.getF16Type() : Type(b.getBF16Type()), value);
    if (element.isF32())
      value = arith::ExtFOp::create(b, loc, b.getF32Type(), value);
    linalg::YieldOp::create(b, loc, value);
  };
  auto rounded = linalg::GenericOp::create(builder, loc, quantized, producer.getInputs(), op.getQuantized(),
                                           producer.getIndexingMapsArray(), producer.getIteratorTypesArray(), body);
  rounded->setDiscardableAttrs(producer->getDiscardableAttrDictionary());
  op.getResult(0).replaceAllUsesWith(rounded.getResult(0));
  op.erase();
  producer.erase();
  return true;
}

void attune::simplifyQuantizedRows(func::FuncOp function) {
  SmallVector<tiles::QuantizeRowsOp> ops;
  function.walk([&](tiles::QuantizeRowsOp op) { ops.push_back(op); });
  // Equal operations are merged first: rows that are quantized for two projections then have one reader, the remaining
  // operation.
  llvm::MapVector<std::tuple<Value, Type, Attribute>, tiles::QuantizeRowsOp> known;
  for (tiles::QuantizeRowsOp &op : ops) {
    tiles::QuantizeRowsOp &first = known[{op.getInput(), op.getQuantized().getType(), op.getGroupAttr()}];
    if (first && first->getBlock() == op->getBlock()) {
      op.replaceAllUsesWith(first.getResults());
      op.erase();
      op = nullptr;
    } else {
      first = op;
    }
  }
  for (tiles::QuantizeRowsOp op : ops)
    if (op)
      (void)storeRounded(op);
}
