//===- EntryCaches.cpp - Layers that read and write caches ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The parts of EntryBuilder for entries with caches. A cache is an argument of the entry and, if the entry updates it,
// a result; both are the same memory after bufferization. Slots and lengths, which the session knows, are arguments,
// too.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/Elementwise.h"
#include "compiler/Import/Embeddings.h"
#include "compiler/Import/EntryBuilder.h"
#include "compiler/Import/Positions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace attune;
using namespace mlir;

/// Returns for each sequence b its number of tokens, earlier ones included: `past[b] + offsets[b + 1] - offsets[b]`.
static Value addLengths(EntryScope &scope, Value past, Value offsets) {
  OpBuilder &builder = scope.builder;
  Location loc = scope.at("key_lengths");
  Value batch = tensor::DimOp::create(builder, loc, past, 0);
  Value empty = tensor::EmptyOp::create(builder, loc, ArrayRef<OpFoldResult>(batch), builder.getI64Type());
  auto body = [&](OpBuilder &inner, Location loc, ValueRange arguments) -> Value {
    Value sequence = linalg::IndexOp::create(inner, loc, 0);
    Value next = arith::AddIOp::create(inner, loc, sequence, arith::ConstantIndexOp::create(inner, loc, 1));
    Value begin = tensor::ExtractOp::create(inner, loc, offsets, sequence), end = tensor::ExtractOp::create(inner, loc, offsets, next);
    Value tokens = arith::SubIOp::create(inner, loc, end, begin);
    return arith::AddIOp::create(inner, loc, arguments[0], tokens);
  };
  return emitElements(builder, loc, empty, past, body);
}

Value attune::emitLengths(EntryScope &scope, Value count, Value length) {
  OpBuilder &builder = scope.builder;
  Location loc = scope.at("past_lengths");
  Value empty = tensor::EmptyOp::create(builder, loc, ArrayRef<OpFoldResult>(count), builder.getI64Type());
  auto body = [&](OpBuilder &inner, Location loc, ValueRange) -> Value {
    Value value = length ? Value(arith::IndexCastOp::create(inner, loc, inner.getI64Type(), length))
                         : Value(arith::ConstantOp::create(inner, loc, inner.getI64IntegerAttr(0)));
    return value;
  };
  return emitElements(builder, loc, empty, {}, body);
}

/// Returns for each sequence the number of its earlier tokens that the mask shows; `keys.past` counts all earlier
/// tokens.
static Value countVisible(EntryScope &scope, const CachedKeys &keys) {
  OpBuilder &builder = scope.builder;
  Location loc = scope.at("past_lengths");
  Value batch = tensor::DimOp::create(builder, loc, keys.past, 0);
  Value zero = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(0));
  Value empty = tensor::EmptyOp::create(builder, loc, ArrayRef<OpFoldResult>(batch), builder.getI64Type());
  Value none = linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
  auto body = [&](OpBuilder &inner, Location loc, ValueRange arguments) {
    Value key = arith::IndexCastOp::create(inner, loc, inner.getI64Type(), linalg::IndexOp::create(inner, loc, 1));
    Value isPast = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::slt, key, arguments[1]);
    Value shown = arith::ConstantOp::create(inner, loc, inner.getF32FloatAttr(0));
    Value isShown = arith::CmpFOp::create(inner, loc, arith::CmpFPredicate::OEQ, arguments[0], shown);
    Value one = arith::ExtUIOp::create(inner, loc, inner.getI64Type(), arith::AndIOp::create(inner, loc, isPast, isShown));
    linalg::YieldOp::create(inner, loc, arith::AddIOp::create(inner, loc, arguments[2], one).getResult());
  };
  AffineMap pairs = builder.getMultiDimIdentityMap(2), ofSequence = AffineMap::get(2, 0, builder.getAffineDimExpr(0));
  return linalg::GenericOp::create(builder, loc, empty.getType(), ValueRange{keys.mask, keys.past}, none,
                                   ArrayRef<AffineMap>{pairs, ofSequence, ofSequence},
                                   ArrayRef<utils::IteratorType>{utils::IteratorType::parallel, utils::IteratorType::reduction}, body)
      .getResult(0);
}

CachedKeys EntryBuilder::emitSelfKeys(TokenBatch &tokens) {
  OpBuilder &builder = scope.builder;
  Location loc = scope.at("cache");
  CachedKeys own;
  Value past = addDimArgument(xfmr::SessionDim::Past);
  own.slots = addRowInput(xfmr::InputDefault::Slots);
  own.past = addRowInput(xfmr::InputDefault::PastLengths);
  tokens.continueAfter(own.past);
  const Sequences &sequences = tokens.sequences();
  own.lengths = addLengths(scope, own.past, sequences.offsets);
  Value visible = addCache("visible", false, {"capacity"});
  Value updated =
      xfmr::MaskCacheUpdateOp::create(builder, loc, visible.getType(), visible, own.past, own.slots, sequences.offsets, sequences.mask);
  updateCache(visible, updated);
  // An upper bound of the number of tokens of each sequence. The sum of the tokens in the longest slot and the padded
  // length may exceed the capacity, since it counts padding that `prefill` skips. No sequence exceeds the capacity: the
  // runtime checks this before the call.
  own.length = arith::MinSIOp::create(builder, loc, arith::AddIOp::create(builder, loc, past, tokens.length()),
                                      tensor::DimOp::create(builder, loc, visible, 1));
  own.mask = xfmr::MaskCacheReadOp::create(builder, loc, updated, own.length, own.slots);
  if (spec.decoder->embeddings.countsMask)
    tokens.continueAfter(countVisible(scope, own));
  return own;
}

CachedKeys EntryBuilder::readSourceKeys() {
  CachedKeys cross;
  cross.length = addDimArgument(xfmr::SessionDim::SourceLength);
  cross.slots = addRowInput(xfmr::InputDefault::Sources);
  cross.lengths = addRowInput(xfmr::InputDefault::SourceLengths);
  Value visible = addCache("source_visible", true, {"capacity"});
  cross.mask = xfmr::MaskCacheReadOp::create(scope.builder, scope.at("cache"), visible, cross.length, cross.slots);
  return cross;
}

void EntryBuilder::emitCachedStack(const CachingEntry &entry) {
  const StackSpec &stack = *spec.decoder;
  decoder.tokens.emplace(makeStackBatch(StackRole::Decoder));
  TokenBatch &tokens = *decoder.tokens;
  LayerOperands operands;
  CachedKeys own = emitSelfKeys(tokens), cross;
  bool reads = entry.readsSources;
  if (reads)
    cross = readSourceKeys();
  operands.hidden = emitEmbeddings(scope, StackRole::Decoder, tokens);
  operands.sequences = tokens.sequences();
  operands.sequences.mask = {};
  operands.positions = emitRotaryRows(scope, StackRole::Decoder, tokens, own.length);
  operands.distanceBias = emitDistanceBias(stack, own.length);
  own.mask = addKeyBias(stack, own.mask, own.length);
  Value headMask = scope.input(InputRole::HeadMask, StackRole::Decoder);
  Value crossHeadMask = stack.crossSharesHeadMask ? headMask : scope.input(InputRole::CrossHeadMask, StackRole::Decoder);
  LayerRequest request;
  request.own.key = request.own.value = true;
  for (auto [i, layer] : llvm::enumerate(stack.layers)) {
    operands.headMask = headMaskOf(headMask, i);
    operands.crossHeadMask = layer.cross ? headMaskOf(crossHeadMask, i) : Value();
    CachedKeys cache = addLayerCache(i, *layer.attention, false);
    operands.selfCache = own;
    operands.selfCache.keys = cache.keys, operands.selfCache.values = cache.values;
    if (reads) {
      CachedKeys sources = addLayerCache(i, *layer.cross, true);
      operands.crossCache = cross;
      operands.crossCache.keys = sources.keys, operands.crossCache.values = sources.values;
    }
    LayerResults called = layers.decoder->call(scope.builder, layer, operands, request);
    operands.hidden = called.hidden;
    updateCache(cache.keys, called.own.key);
    updateCache(cache.values, called.own.value);
  }
  decoder.result = operands.hidden;
  if (entry.kind == CachingEntry::Prefill)
    decoder.result = tokens.lastTokens(decoder.result);
  decoder.result = emitFinal(stack, decoder.result);
}

void EntryBuilder::emitSources() {
  if (spec.encoder)
    emitStack(StackRole::Encoder);
  LayerOperands memoryOperands, operands;
  provideMemory(memoryOperands);
  const Sequences &sequences = memoryOperands.memorySequences;
  CachedKeys cross;
  cross.slots = addRowInput(xfmr::InputDefault::Sources);
  cross.past = emitLengths(scope, (memory ? *memory : *encoder.tokens).batch());
  Value visible = addCache("source_visible", true, {"capacity"});
  updateCache(visible, xfmr::MaskCacheUpdateOp::create(scope.builder, scope.at("cache"), visible.getType(), visible, cross.past,
                                                       cross.slots, sequences.offsets, sequences.mask));
  operands.memory = memoryOperands.memory, operands.memoryValues = memoryOperands.memoryValues;
  operands.memorySequences.offsets = sequences.offsets;
  for (auto [i, layer] : llvm::enumerate(spec.decoder->layers)) {
    CachedKeys cache = addLayerCache(i, *layer.cross, true);
    operands.crossCache = cross;
    operands.crossCache.keys = cache.keys, operands.crossCache.values = cache.values;
    AttentionResults called = layers.decoder->callCrossKeys(scope.builder, layer, operands);
    updateCache(cache.keys, called.key);
    updateCache(cache.values, called.value);
  }
}

void EntryBuilder::emit(const CachingEntry &entry) {
  constexpr xfmr::CacheUse uses[] = {xfmr::CacheUse::Encode, xfmr::CacheUse::Append, xfmr::CacheUse::Append, xfmr::CacheUse::Continue};
  function = createFunction(entry.name, uses[entry.kind]);
  if (entry.kind == CachingEntry::Encode) {
    emitSources();
  } else {
    emitCachedStack(entry);
    for (auto [result, output] : llvm::zip(results, outputs))
      result = emitHead(scope, spec.outputs[*output.index], *decoder.tokens, decoder.result, entry.kind != CachingEntry::Extend);
  }
  finish(function);
}
