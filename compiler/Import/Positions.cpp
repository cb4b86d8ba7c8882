//===- Positions.cpp - Where tokens stand in their sequences --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/Positions.h"
#include "compiler/Import/Elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace attune;
using namespace mlir;

/// Adds |past|, the number of earlier tokens of each sequence, to the positions |counted| `[batch, length]`. An element
/// that is |padding| belongs to padding and stays.
static Value continueCounting(EntryScope &scope, Value counted, Value past, int64_t padding) {
  OpBuilder &builder = scope.builder;
  Location loc = scope.at("position_ids");
  Value empty = tensor::EmptyOp::create(builder, loc, tensor::getMixedSizes(builder, loc, counted), builder.getI64Type());
  auto body = [&](OpBuilder &inner, Location loc, ValueRange arguments) -> Value {
    Value isToken = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::ne, arguments[0],
                                          arith::ConstantOp::create(inner, loc, inner.getI64IntegerAttr(padding)));
    Value later = arith::AddIOp::create(inner, loc, arguments[0], arguments[1]);
    return arith::SelectOp::create(inner, loc, isToken, later, arguments[0]);
  };
  AffineMap identity = builder.getMultiDimIdentityMap(2), ofSequence = AffineMap::get(2, 0, builder.getAffineDimExpr(0));
  return emitElements(builder, loc, empty, {counted, past}, body, {identity, ofSequence});
}

/// Drops the columns of |counted| `[batch, keys]` that belong to earlier tokens: keeps the last columns, one for each
/// token of the call.
static Value dropEarlier(EntryScope &scope, Value counted, TokenBatch &tokens) {
  OpBuilder &builder = scope.builder;
  Location loc = scope.at("position_ids");
  Value begin = arith::SubIOp::create(builder, loc, tensor::DimOp::create(builder, loc, counted, 1), tokens.length());
  SmallVector<OpFoldResult> offsets = {builder.getIndexAttr(0), begin}, sizes = {tokens.batch(), tokens.length()};
  SmallVector<OpFoldResult> strides(2, builder.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(builder, loc, counted, offsets, sizes, strides);
}

/// Adds |rows| to each element of |positions| `[batch, length]`.
static Value shiftPositions(EntryScope &scope, Value positions, int64_t rows) {
  OpBuilder &builder = scope.builder;
  Location loc = scope.at("position_ids");
  Value empty = tensor::EmptyOp::create(builder, loc, tensor::getMixedSizes(builder, loc, positions), builder.getI64Type());
  auto body = [&](OpBuilder &inner, Location loc, ValueRange arguments) -> Value {
    Value first = arith::ConstantOp::create(inner, loc, inner.getI64IntegerAttr(rows));
    return arith::AddIOp::create(inner, loc, arguments[0], first);
  };
  return emitElements(builder, loc, empty, positions, body);
}

Value attune::emitPositions(EntryScope &scope, StackRole role, TokenBatch &tokens) {
  const EmbeddingSpec &spec = scope.spec.stack(role).embeddings;
  if (Value given = scope.input(InputRole::Positions, role))
    return tokens.toTokens(spec.countsMask ? shiftPositions(scope, given, *spec.countedAfter + 1) : given);
  Value counts = scope.input(spec.countsMask ? InputRole::AttentionMask : InputRole::TokenIds, role);
  if (spec.countedAfter && counts) {
    Value counted = xfmr::CountedPositionsOp::create(scope.builder, scope.at("position_ids"), counts, *spec.countedAfter);
    // The mask of a call with the keys of earlier tokens also covers the earlier tokens.
    if (spec.countsMask && scope.past(0))
      counted = dropEarlier(scope, counted, tokens);
    else if (Value past = tokens.pastLengths())
      counted = continueCounting(scope, counted, past, *spec.countedAfter);
    return tokens.toTokens(counted);
  }
  return tokens.generateIds(/*counting=*/!spec.onePosition, spec.countedAfter ? *spec.countedAfter + 1 : 0);
}

/// Returns the largest of |positions| `[batch, length]` plus one, as a tensor of rank 0.
static Value emitLongest(EntryScope &scope, Location loc, Value positions) {
  OpBuilder &builder = scope.builder;
  Value zero = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(0));
  Value empty = tensor::EmptyOp::create(builder, loc, ArrayRef<int64_t>(), builder.getI64Type());
  Value none = linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
  auto body = [&](OpBuilder &inner, Location loc, ValueRange arguments) {
    Value one = arith::ConstantOp::create(inner, loc, inner.getI64IntegerAttr(1));
    Value length = arith::AddIOp::create(inner, loc, arguments[0], one);
    linalg::YieldOp::create(inner, loc, arith::MaxSIOp::create(inner, loc, length, arguments[1]).getResult());
  };
  AffineMap identity = builder.getMultiDimIdentityMap(2), scalar = AffineMap::get(2, 0, builder.getContext());
  return linalg::GenericOp::create(builder, loc, empty.getType(), positions, none, ArrayRef<AffineMap>{identity, scalar},
                                   SmallVector<utils::IteratorType>(2, utils::IteratorType::reduction), body)
      .getResult(0);
}

/// Moves |positions| `[T]` to the second part of a table whose first part has |shortRows| rows, if the longest sequence
/// has more tokens than that. The length of the longest sequence is |length| or, if |given|, the input of positions, is
/// not null, the largest position in |given| plus one, padding included.
static Value chooseRows(EntryScope &scope, Value positions, Value given, Value length, int64_t shortRows) {
  OpBuilder &builder = scope.builder;
  Location loc = scope.at("rotary_rows");
  Value longest = given ? emitLongest(scope, loc, given) : Value();
  Value empty = tensor::EmptyOp::create(builder, loc, tensor::getMixedSizes(builder, loc, positions), builder.getI64Type());
  auto body = [&](OpBuilder &inner, Location loc, ValueRange arguments) -> Value {
    Value count = longest ? Value(tensor::ExtractOp::create(inner, loc, longest, ValueRange()))
                          : Value(arith::IndexCastOp::create(inner, loc, inner.getI64Type(), length));
    Value rows = arith::ConstantOp::create(inner, loc, inner.getI64IntegerAttr(shortRows));
    Value isLong = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::sgt, count, rows);
    Value later = arith::AddIOp::create(inner, loc, arguments[0], rows);
    return arith::SelectOp::create(inner, loc, isLong, later, arguments[0]);
  };
  return emitElements(builder, loc, empty, positions, body);
}

Value attune::emitRotaryRows(EntryScope &scope, StackRole role, TokenBatch &tokens, Value length) {
  const StackSpec &stack = scope.spec.stack(role);
  if (llvm::none_of(stack.layers, [](const LayerSpec &layer) { return layer.attention && layer.attention->rotary != noWeight; }))
    return {};
  Value positions = emitPositions(scope, role, tokens);
  if (!stack.shortRotaryRows)
    return positions;
  return chooseRows(scope, positions, scope.input(InputRole::Positions, role), length, *stack.shortRotaryRows);
}
