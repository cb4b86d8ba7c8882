//===- EntryStacks.cpp - The stacks of an entry ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/Convolution.h"
#include "compiler/Import/Elementwise.h"
#include "compiler/Import/Embeddings.h"
#include "compiler/Import/EntryBuilder.h"
#include "compiler/Import/KeyBias.h"
#include "compiler/Import/Positions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace attune;
using namespace mlir;

TokenBatch EntryBuilder::makeBatch(Value padded, const std::string &lengthDim, Value mask) {
  Location loc = scope.at("shape");
  Value batch = tensor::DimOp::create(scope.builder, loc, padded, 0);
  Value length = tensor::DimOp::create(scope.builder, loc, padded, 1);
  return TokenBatch(scope, batch, length, lengthDim, mask);
}

bool EntryBuilder::hasSource(StackRole role) const {
  constexpr InputRole sources[] = {InputRole::TokenIds, InputRole::TokenVectors, InputRole::Image, InputRole::EncoderResult};
  return llvm::any_of(sources, [&](InputRole source) { return scope.input(source, role); });
}

Value EntryBuilder::shiftIds(Value ids) {
  OpBuilder &builder = scope.builder;
  Location loc = scope.at("decoder_input_ids");
  const ShiftedIdsSpec &shifted = *spec.shiftedIds;
  Value ends;
  if (shifted.padding)
    ends = xfmr::PackTokensOp::create(builder, loc, markTokens(builder, loc, ids, arith::CmpIPredicate::ne, *shifted.padding)).getOffsets();
  Value empty = tensor::EmptyOp::create(builder, loc, tensor::getMixedSizes(builder, loc, ids), builder.getI64Type());
  auto body = [&](OpBuilder &inner, Location loc, ValueRange) -> Value {
    Value sequence = linalg::IndexOp::create(inner, loc, 0), position = linalg::IndexOp::create(inner, loc, 1);
    Value zero = arith::ConstantIndexOp::create(inner, loc, 0), one = arith::ConstantIndexOp::create(inner, loc, 1);
    Value isFirst = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::eq, position, zero);
    Value before = arith::MaxSIOp::create(inner, loc, arith::SubIOp::create(inner, loc, position, one), zero);
    Value id = tensor::ExtractOp::create(inner, loc, ids, ValueRange{sequence, before});
    Value first;
    if (ends) {
      Value begin = tensor::ExtractOp::create(inner, loc, ends, sequence);
      Value end = tensor::ExtractOp::create(inner, loc, ends, Value(arith::AddIOp::create(inner, loc, sequence, one)));
      Value count = arith::IndexCastOp::create(inner, loc, inner.getIndexType(), arith::SubIOp::create(inner, loc, end, begin));
      Value last = arith::MaxSIOp::create(inner, loc, arith::SubIOp::create(inner, loc, count, one), zero);
      first = tensor::ExtractOp::create(inner, loc, ids, ValueRange{sequence, last});
    } else {
      first = arith::ConstantOp::create(inner, loc, inner.getI64IntegerAttr(shifted.start));
    }
    return arith::SelectOp::create(inner, loc, isFirst, first, id);
  };
  return emitElements(builder, loc, empty, {}, body);
}

TokenBatch EntryBuilder::makeStackBatch(StackRole role) {
  if (role == StackRole::Decoder && !hasSource(role)) {
    scope.shiftedIds = shiftIds(scope.input(InputRole::TokenIds, StackRole::Encoder));
    return makeBatch(scope.shiftedIds, spec.lengthDim(StackRole::Encoder), {});
  }
  if (Value image = scope.input(InputRole::Image, role)) {
    Location loc = scope.at("shape");
    int64_t tokens = spec.stack(role).embeddings.patches->tokens();
    Value length = arith::ConstantIndexOp::create(scope.builder, loc, tokens);
    return TokenBatch(scope, tensor::DimOp::create(scope.builder, loc, image, 0), length, std::to_string(tokens), {});
  }
  Value source = scope.input(InputRole::TokenIds, role);
  for (InputRole other : {InputRole::TokenVectors, InputRole::EncoderResult})
    if (!source)
      source = scope.input(other, role);
  Value mask = scope.input(InputRole::AttentionMask, role), ids = scope.input(InputRole::TokenIds, role);
  if (const std::optional<int64_t> &hidden = spec.stack(role).hiddenId; hidden && !mask && ids)
    mask = markTokens(scope.builder, scope.at("attention_mask"), ids, arith::CmpIPredicate::ne, *hidden);
  return makeBatch(source, spec.lengthDim(role), mask);
}

void EntryBuilder::provideMemory(LayerOperands &operands) {
  if (spec.encoder && !encoder.tokens) {
    // The encoder does not run, and of the memory only keys and values are inputs, so batch and length are those of the
    // keys.
    Value keys = scope.past(2);
    Location loc = scope.at("shape");
    Value batch = tensor::DimOp::create(scope.builder, loc, keys, 0), length = tensor::DimOp::create(scope.builder, loc, keys, 2);
    memory.emplace(scope, batch, length, "source_length", scope.input(InputRole::AttentionMask, StackRole::Encoder));
    operands.memorySequences = memory->sequences();
    return;
  }
  if (spec.encoder) {
    operands.memory = encoder.result;
    operands.memorySequences = encoder.tokens->sequences();
    return;
  }
  Value input = scope.input(InputRole::Memory, StackRole::Decoder);
  if (!input)
    return;
  memory.emplace(makeBatch(input, "source_length", scope.input(InputRole::MemoryMask, StackRole::Decoder)));
  operands.memory = memory->toTokens(input);
  operands.memorySequences = memory->sequences();
  if (Value values = scope.input(InputRole::MemoryValues, StackRole::Decoder))
    operands.memoryValues = memory->toTokens(values);
}

void EntryBuilder::continueAfterPast(TokenBatch &tokens, LayerOperands &operands) {
  Value keys = scope.past(0);
  if (!keys)
    return;
  OpBuilder &builder = scope.builder;
  Location loc = scope.at(pastGroup);
  Value past = tensor::DimOp::create(builder, loc, keys, 2);
  totalLength = arith::AddIOp::create(builder, loc, past, tokens.length());
  tokens.continueAfter(emitLengths(scope, tokens.batch(), past));
  operands.keySequences.offsets = xfmr::SequenceOffsetsOp::create(builder, loc, tokens.batch(), totalLength);
  operands.keySequences.length = totalLength;
  // The mask covers all keys, those of earlier tokens included.
  operands.keySequences.mask = tokens.sequences().mask;
  operands.sequences.mask = {};
}

void EntryBuilder::providePast(int64_t layer, LayerOperands &operands) {
  int64_t parts = spec.decoder->cachedParts(), first = layer * parts;
  if (parts == 0)
    return;
  operands.pastKey = scope.past(first), operands.pastValue = scope.past(first + 1);
  if (parts > 2)
    operands.memoryKey = scope.past(first + 2), operands.memoryValue = scope.past(first + 3);
  if (operands.memoryKey)
    operands.memory = operands.memoryValues = {};
}

Value EntryBuilder::headMaskOf(Value mask, int64_t layer) {
  auto type = mask ? cast<RankedTensorType>(mask.getType()) : RankedTensorType();
  if (!mask || type.getRank() == 1)
    return mask;
  Builder &builder = scope.builder;
  int64_t heads = type.getDimSize(1);
  SmallVector<OpFoldResult> offsets = {builder.getIndexAttr(layer), builder.getIndexAttr(0)};
  SmallVector<OpFoldResult> sizes = {builder.getIndexAttr(1), builder.getIndexAttr(heads)};
  SmallVector<OpFoldResult> strides(2, builder.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(scope.builder, scope.at("head_mask"), type.clone({heads}), mask, offsets, sizes, strides);
}

LayerRequest EntryBuilder::requestOf(StackRole role, int64_t layer) const {
  int64_t first = layer * spec.stack(role).cachedParts();
  auto wantsPart = [&](int64_t part) { return wanted(EntryOutput::KeysValues, role, first + part); };
  LayerRequest request;
  request.own = {wanted(EntryOutput::Attentions, role, layer), wantsPart(0), wantsPart(1)};
  request.cross.probabilities = wanted(EntryOutput::CrossAttentions, role, layer);
  if (spec.stack(role).cachedParts() > 2)
    request.cross.key = wantsPart(2), request.cross.value = wantsPart(3);
  return request;
}

Value EntryBuilder::addKeyBias(const StackSpec &stack, Value mask, Value length) {
  if (!stack.distanceBias || stack.distanceBias->counting == DistanceBiasSpec::AllKeys)
    return mask;
  const DistanceBiasSpec &bias = *stack.distanceBias;
  KeyBias emit(scope.builder, scope.at(spec.weights[bias.slopes].name), scope.weight(bias.slopes));
  if (bias.counting == DistanceBiasSpec::RoundedVisibleKeys)
    return emit.addRounded(mask, length, bias.factor);
  return mask ? emit.addSkipped(mask) : mask;
}

Value EntryBuilder::emitDistanceBias(const StackSpec &stack, Value length) {
  if (!stack.distanceBias || stack.distanceBias->counting == DistanceBiasSpec::RoundedVisibleKeys)
    return {};
  const DistanceBiasSpec &bias = *stack.distanceBias;
  Location loc = scope.at(spec.weights[bias.slopes != noWeight ? bias.slopes : bias.table].name);
  return createDistanceBias(scope.builder, loc, bias, scope.weight(bias.table), scope.weight(bias.slopes), length);
}

Value EntryBuilder::emitFinal(const StackSpec &stack, Value hidden) {
  OpBuilder &builder = scope.builder;
  if (stack.finalNorm)
    hidden = createNorm(builder, scope.at(stack.name + ".norm"), *stack.finalNorm, hidden, {}, scope.weight(stack.finalNorm->weight),
                        scope.weight(stack.finalNorm->bias));
  const LinearSpec &projection = stack.finalProjection;
  if (projection.weight == noWeight)
    return hidden;
  return xfmr::LinearOp::create(builder, scope.at(stack.name + ".projection"), hidden, scope.weight(projection.weight),
                                scope.weight(projection.bias), Value(), xfmr::Activation::None);
}

void EntryBuilder::emitStack(StackRole role) {
  const StackSpec &stack = spec.stack(role);
  Stack &state = stackOf(role);
  state.tokens.emplace(makeStackBatch(role));
  TokenBatch &tokens = *state.tokens;
  if (Value given = scope.input(InputRole::EncoderResult, role)) {
    state.result = tokens.toTokens(given);
    return;
  }
  if (stack.masksQueries)
    tokens.maskQueries();
  LayerOperands operands;
  operands.sequences = tokens.sequences();
  if (role == StackRole::Decoder)
    continueAfterPast(tokens, operands);
  operands.hidden = emitEmbeddings(scope, role, tokens);
  Value embedded = operands.hidden;
  bool afterPast = bool(operands.keySequences.length);
  Value keyLength = afterPast ? totalLength : tokens.length();
  operands.positions = emitRotaryRows(scope, role, tokens, keyLength);
  operands.distanceBias = emitDistanceBias(stack, keyLength);
  Value &mask = afterPast ? operands.keySequences.mask : operands.sequences.mask;
  mask = addKeyBias(stack, mask, keyLength);
  if (role == StackRole::Decoder)
    provideMemory(operands);
  TokenBatch &memoryTokens = memory ? *memory : encoder.tokens ? *encoder.tokens : tokens;
  const std::string keyDim = afterPast ? "total_length" : tokens.lengthDim();
  const std::vector<std::string> stateDims = {"batch", tokens.lengthDim(), std::to_string(stack.hidden)};
  Value headMask = scope.input(InputRole::HeadMask, role);
  Value crossHeadMask = stack.crossSharesHeadMask ? headMask : scope.input(InputRole::CrossHeadMask, role);

  int64_t count = int64_t(stack.layers.size());
  for (int64_t i = 0; i < count; ++i) {
    const LayerSpec &layer = stack.layers[i];
    if (wanted(EntryOutput::HiddenStates, role, i))
      capture(EntryOutput::HiddenStates, role, i, {tokens.toPadded(operands.hidden), stateDims});
    operands.headMask = headMaskOf(headMask, i);
    operands.crossHeadMask = layer.cross ? headMaskOf(crossHeadMask, i) : Value();
    LayerFunctions &functions = role == StackRole::Encoder ? *layers.encoder : *layers.decoder;
    if (role == StackRole::Decoder)
      providePast(i, operands);
    LayerRequest request = requestOf(role, i);
    operands.sequences.paddedPositions = request.own.parts() ? tokens.paddedPositions() : Value();
    operands.memorySequences.paddedPositions = request.cross.parts() ? memoryTokens.paddedPositions() : Value();
    LayerResults called = functions.call(scope.builder, layer, operands, request);
    operands.hidden = called.hidden;
    if (i == 0 && stack.convolution)
      operands.hidden = emitConvolution(scope, *stack.convolution, tokens, embedded, operands.hidden);
    if (stack.zeroesHidden)
      operands.hidden = tokens.zeroHidden(scope.at(stack.name + ".hidden"), operands.hidden);
    if (layer.attention)
      captureAttention(EntryOutput::Attentions, role, i, *layer.attention, called.own, tokens, keyDim, 0);
    if (layer.cross)
      captureAttention(EntryOutput::CrossAttentions, role, i, *layer.cross, called.cross, memoryTokens, memoryTokens.lengthDim(), 2);
  }
  state.result = emitFinal(stack, operands.hidden);
  if (wanted(EntryOutput::HiddenStates, role, count)) {
    Value last = stack.lastStateNormed ? state.result : operands.hidden;
    std::string features = std::to_string(cast<RankedTensorType>(last.getType()).getDimSize(1));
    capture(EntryOutput::HiddenStates, role, count, {tokens.toPadded(last), {"batch", tokens.lengthDim(), features}});
  }
}
