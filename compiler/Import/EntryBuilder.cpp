//===- EntryBuilder.cpp - The entry of an encoder -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/EntryBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace attune;
using namespace mlir;

EntryBuilder::EntryBuilder(const TransformerSpec &spec, const std::vector<EntryInput> &inputs, const std::vector<EntryOutput> &outputs,
                           Padding padding, WeightTable &weights, ModuleOp module)
    : spec(spec), inputs(inputs), outputs(outputs), padding(padding), weights(weights), layers(spec, spec.encoder, weights),
      builder(OpBuilder::atBlockEnd(module.getBody())), results(outputs.size()) {}

void EntryBuilder::emit(StringRef name) {
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  for (const EntryInput &input : inputs) {
    types.push_back(input.type(builder));
    attributes.push_back(input.attributes(builder));
  }
  auto function = func::FuncOp::create(builder, at(name), name, builder.getFunctionType(types, {}));
  function->setAttr(xfmr::kEntryAttr, builder.getStringAttr(name));
  function.setAllArgAttrs(attributes);
  Block *body = function.addEntryBlock();
  for (auto [argument, input] : llvm::zip(body->getArguments(), inputs)) {
    argument.setLoc(at(input.spec->name));
    arguments.push_back(argument);
  }

  builder.setInsertionPointToStart(body);
  emitShape();
  emitSequences();
  Value hidden = emitLayers(emitEmbeddings());
  for (auto [i, output] : llvm::enumerate(outputs))
    if (output.kind == EntryOutput::Main)
      emitMainOutput(i, hidden);
  finish(function);
}

Value EntryBuilder::input(InputRole role) const {
  for (auto [argument, input] : llvm::zip(arguments, inputs))
    if (input.spec->role == role)
      return argument;
  return {};
}

void EntryBuilder::emitShape() {
  Value source = input(InputRole::TokenIds);
  if (!source)
    source = input(InputRole::TokenVectors);
  Location loc = at("shape");
  batch = tensor::DimOp::create(builder, loc, source, 0);
  length = tensor::DimOp::create(builder, loc, source, 1);
  tokens = arith::MulIOp::create(builder, loc, batch, length);
}

void EntryBuilder::emitSequences() {
  Location loc = at("sequences");
  Value mask = input(InputRole::AttentionMask);
  sequences.length = length;
  if (mask && padding == Padding::Skip) {
    auto pack = xfmr::PackTokensOp::create(builder, loc, mask);
    sequences.offsets = pack.getOffsets();
    positions = pack.getPositions();
    return;
  }
  sequences.offsets = xfmr::SequenceOffsetsOp::create(builder, loc, batch, length);
  bool visibility = mask && getElementTypeOrSelf(mask).isInteger();
  sequences.mask = visibility ? Value(xfmr::AdditiveMaskOp::create(builder, at("attention_mask"), mask)) : mask;
}

/// A linalg op already here: no op of the dialect needs to see these ids as more than a loop.
Value EntryBuilder::generateIds(bool places) {
  Location loc = at(places ? "position_ids" : "token_type_ids");
  Value ids = tensor::EmptyOp::create(builder, loc, ArrayRef<OpFoldResult>(tokens), builder.getI64Type());
  auto body = [&](OpBuilder &inner, Location loc, ValueRange) {
    Value id;
    if (places) {
      Value token = linalg::IndexOp::create(inner, loc, 0);
      id = arith::IndexCastOp::create(inner, loc, inner.getI64Type(), arith::RemUIOp::create(inner, loc, token, length));
    } else {
      id = arith::ConstantOp::create(inner, loc, inner.getI64IntegerAttr(0));
    }
    linalg::YieldOp::create(inner, loc, id);
  };
  return linalg::GenericOp::create(builder, loc, ids.getType(), ValueRange(), ids, builder.getMultiDimIdentityMap(1),
                                   utils::IteratorType::parallel, body)
      .getResult(0);
}

Value EntryBuilder::embed(Value ids, ParameterId table) {
  return xfmr::EmbeddingOp::create(builder, at(spec.parameters[table].name), ids, weights.get(builder, table));
}

/// The sum runs words + types + positions, the order of the reference.
Value EntryBuilder::emitEmbeddings() {
  const EmbeddingSpec &embeddings = spec.embeddings;
  Location loc = at(embeddings.path);
  Value vectors = input(InputRole::TokenVectors);
  Value sum = vectors ? toTokens(vectors) : embed(toTokens(input(InputRole::TokenIds)), embeddings.words);
  for (auto [role, table] : {std::pair(InputRole::TokenTypes, embeddings.types), std::pair(InputRole::Positions, embeddings.positions)}) {
    if (table == noParameter)
      continue;
    Value ids = input(role);
    if (ids)
      ids = toTokens(ids);
    else if (ids = generateIds(role == InputRole::Positions); positions)
      ids = xfmr::GatherTokensOp::create(builder, ids.getLoc(), ids, positions);
    sum = arith::AddFOp::create(builder, loc, sum, embed(ids, table));
  }
  if (embeddings.norm)
    sum = xfmr::LayerNormOp::create(builder, loc, sum, weights.get(builder, embeddings.norm->weight),
                                    weights.get(builder, embeddings.norm->bias), Value(), APFloat(embeddings.norm->epsilon));
  return dropout(loc, sum, embeddings.dropout);
}

Value EntryBuilder::dropout(Location loc, Value value, double rate) {
  return xfmr::DropoutOp::create(builder, loc, value.getType(), value, APFloat(rate));
}

Value EntryBuilder::headMaskOf(int64_t layer) {
  Value mask = input(InputRole::HeadMask);
  auto type = mask ? cast<RankedTensorType>(mask.getType()) : RankedTensorType();
  if (!mask || type.getRank() == 1)
    return mask;
  int64_t heads = type.getDimSize(1);
  SmallVector<OpFoldResult> offsets = {builder.getIndexAttr(layer), builder.getIndexAttr(0)};
  SmallVector<OpFoldResult> sizes = {builder.getIndexAttr(1), builder.getIndexAttr(heads)};
  SmallVector<OpFoldResult> strides(2, builder.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(builder, at("head_mask"), type.clone({heads}), mask, offsets, sizes, strides);
}

Value EntryBuilder::emitLayers(Value hidden) {
  const std::vector<LayerSpec> &list = spec.encoder.layers;
  int64_t count = int64_t(list.size());
  const std::vector<std::string> stateDims = {"batch", "length", std::to_string(spec.hidden)};
  for (int64_t i = 0; i <= count; ++i) {
    if (wanted(EntryOutput::HiddenStates, i))
      capture(EntryOutput::HiddenStates, i, count + 1, toPadded(hidden), stateDims);
    if (i == count)
      break;
    auto called = layers.call(builder, list[i], hidden, sequences, headMaskOf(i), wanted(EntryOutput::Attentions, i));
    hidden = called.hidden;
    if (Value map = called.probabilities) {
      if (positions)
        map = xfmr::ScatterProbabilitiesOp::create(builder, map.getLoc(), map.getType(), map, sequences.offsets, positions);
      capture(EntryOutput::Attentions, i, count, map, {"batch", std::to_string(list[i].attention.heads), "length", "length"});
    }
  }
  return hidden;
}

Value EntryBuilder::emitStep(const HeadStep &step, Value value) {
  Location loc = at(step.path);
  switch (step.kind) {
  case HeadStep::Pool:
    return xfmr::PoolOp::create(builder, loc, step.pool, value, sequences.offsets, positions, positions ? length : Value());
  case HeadStep::Linear: {
    Value weight = weights.get(builder, step.linear.weight, step.linear.features);
    Value bias = weights.get(builder, step.linear.bias, step.linear.features);
    return xfmr::LinearOp::create(builder, loc, value, weight, bias, Value(), xfmr::Activation::None);
  }
  case HeadStep::Activation:
    return xfmr::ActivationOp::create(builder, loc, value.getType(), step.activation, value);
  case HeadStep::Norm:
    return xfmr::LayerNormOp::create(builder, loc, value, weights.get(builder, step.norm.weight), weights.get(builder, step.norm.bias),
                                     Value(), APFloat(step.norm.epsilon));
  case HeadStep::Dropout:
    return dropout(loc, value, step.rate);
  }
  llvm_unreachable("all steps are handled");
}

void EntryBuilder::emitMainOutput(size_t index, Value hidden) {
  const OutputSpec &output = spec.outputs[*outputs[index].index];
  bool pooled = false;
  Value value = hidden;
  for (const HeadStep &step : output.steps) {
    value = emitStep(step, value);
    pooled |= step.kind == HeadStep::Pool;
  }
  std::vector<std::string> dims = {"batch"};
  int64_t features = cast<RankedTensorType>(value.getType()).getDimSize(1);
  if (!pooled) {
    value = toPadded(value, output.squeeze);
    dims.push_back("length");
  }
  if (!output.squeeze)
    dims.push_back(std::to_string(features));
  results[index] = {value, dims};
}

void EntryBuilder::finish(func::FuncOp function) {
  SmallVector<Value> values;
  for (const Result &result : results)
    values.push_back(result.value);
  func::ReturnOp::create(builder, function.getLoc(), values);
  function.setFunctionType(builder.getFunctionType(function.getArgumentTypes(), ValueRange(values).getTypes()));
  for (auto [i, result] : llvm::enumerate(results)) {
    function.setResultAttr(i, xfmr::kNameAttr, builder.getStringAttr(outputs[i].name));
    function.setResultAttr(i, xfmr::kDimsAttr, dimsAttribute(builder, result.dims));
    if (outputs[i].isGroup())
      function.setResultAttr(i, xfmr::kGroupAttr, builder.getUnitAttr());
  }
}
