//===- LayerFunctions.cpp - One function per layer signature --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/LayerFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune;
using namespace mlir;

/// The parameters of |layer| in argument order.
static SmallVector<ParameterId> parametersOf(const LayerSpec &layer) {
  SmallVector<ParameterId> all;
  auto add = [&](const auto &pair) {
    for (ParameterId id : {pair.weight, pair.bias})
      if (id != noParameter)
        all.push_back(id);
  };
  add(layer.attention.query), add(layer.attention.key), add(layer.attention.value), add(layer.attention.output);
  add(layer.attentionNorm), add(layer.ffn.up), add(layer.ffn.down), add(layer.ffnNorm);
  return all;
}

/// Everything but argument types that makes two layers different code.
static std::string constantsOf(const LayerSpec &layer) {
  std::string text;
  llvm::raw_string_ostream out(text);
  const AttentionSpec &attention = layer.attention;
  out << attention.heads << ' ' << attention.kvHeads << ' ' << llvm::format_hex(llvm::bit_cast<uint64_t>(attention.scale), 18);
  for (double epsilon : {layer.attentionNorm.epsilon, layer.ffnNorm.epsilon})
    out << ' ' << llvm::format_hex(llvm::bit_cast<uint64_t>(epsilon), 18);
  out << ' ' << xfmr::stringifyActivation(layer.ffn.activation);
  for (const LinearSpec *linear : {&attention.query, &attention.key, &attention.value, &attention.output, &layer.ffn.up, &layer.ffn.down})
    out << (linear->weight != noParameter) << (linear->bias != noParameter);
  return text;
}

namespace {

/// Emits the body of a layer function.
class LayerBody {
public:
  LayerBody(OpBuilder &builder, const StackSpec &stack, const LayerSpec &layer, Sequences sequences, Value headMask,
            const std::map<ParameterId, Value> &weights)
      : builder(builder), stack(stack), layer(layer), sequences(sequences), headMask(headMask), weights(weights) {}

  LayerFunctions::Results emit(Value input, bool wantProbabilities) {
    bool pre = stack.placement == NormPlacement::Pre;
    LayerFunctions::Results results;
    Value branch = attention(pre ? norm(input, {}, layer.attentionNorm, "attention.norm") : input, wantProbabilities, results);
    Value middle = join(dropout(branch, "attention.dropout"), input, layer.attentionNorm, "attention.norm");
    branch = feedForward(pre ? norm(middle, {}, layer.ffnNorm, "ffn.norm") : middle);
    results.hidden = join(dropout(branch, "ffn.dropout"), middle, layer.ffnNorm, "ffn.norm");
    return results;
  }

private:
  Value weight(ParameterId id) const {
    auto it = weights.find(id);
    return it == weights.end() ? Value() : it->second;
  }

  Location at(StringRef part) { return NameLoc::get(builder.getStringAttr(stack.name + "_layer." + part)); }

  Value norm(Value input, Value residual, const NormSpec &spec, StringRef part) {
    return xfmr::LayerNormOp::create(builder, at(part), input, weight(spec.weight), weight(spec.bias), residual, APFloat(spec.epsilon));
  }

  /// The end of a residual branch.
  Value join(Value branch, Value residual, const NormSpec &spec, StringRef part) {
    if (stack.placement == NormPlacement::Post)
      return norm(branch, residual, spec, part);
    return arith::AddFOp::create(builder, at(part), residual, branch);
  }

  Value dropout(Value input, StringRef part) {
    return xfmr::DropoutOp::create(builder, at(part), input.getType(), input, APFloat(stack.dropout));
  }

  Value attention(Value input, bool wantProbabilities, LayerFunctions::Results &results) {
    const AttentionSpec &spec = layer.attention;
    constexpr int64_t dynamic = ShapedType::kDynamic;
    Type probabilities;
    if (wantProbabilities)
      probabilities = RankedTensorType::get({dynamic, spec.heads, dynamic, dynamic}, builder.getF32Type());
    auto op = xfmr::MultiHeadAttentionOp::create(builder, at("attention"), input.getType(), probabilities, input, input,
                                                 weight(spec.query.weight), weight(spec.key.weight), weight(spec.value.weight),
                                                 weight(spec.output.weight), weight(spec.query.bias), weight(spec.key.bias),
                                                 weight(spec.value.bias), weight(spec.output.bias), sequences.offsets, sequences.offsets,
                                                 sequences.length, sequences.length, spec.heads, spec.kvHeads, spec.scale);
    if (sequences.mask)
      op.getMaskMutable().assign(sequences.mask);
    if (headMask)
      op.getHeadMaskMutable().assign(headMask);
    results.probabilities = op.getProbabilities();
    return op.getResult();
  }

  Value feedForward(Value input) {
    const FfnSpec &spec = layer.ffn;
    return xfmr::FfnOp::create(builder, at("ffn"), spec.activation, input, weight(spec.up.weight), weight(spec.down.weight),
                               weight(spec.up.bias), weight(spec.down.bias), Value());
  }

  OpBuilder &builder;
  const StackSpec &stack;
  const LayerSpec &layer;
  Sequences sequences;
  Value headMask;
  const std::map<ParameterId, Value> &weights;
};

} // namespace

func::FuncOp LayerFunctions::create(Operation *entry, const LayerSpec &layer, TypeRange arguments, ArrayRef<ParameterId> parameters,
                                    bool hasMask, bool hasHeadMask, bool probabilities) {
  OpBuilder builder(entry);
  std::string name = stack.name + "_layer";
  if (!functions.empty())
    name += "_" + std::to_string(functions.size());
  auto function = func::FuncOp::create(builder, NameLoc::get(builder.getStringAttr(name)), name, builder.getFunctionType(arguments, {}));
  function.setPrivate();

  Block *body = function.addEntryBlock();
  auto argument = body->args_begin();
  Value hidden = *argument++;
  Sequences sequences{*argument++, *argument++, hasMask ? Value(*argument++) : Value()};
  Value headMask = hasHeadMask ? Value(*argument++) : Value();
  std::map<ParameterId, Value> values;
  for (ParameterId id : parameters) {
    StringRef part = spec.parameters[id].name;
    part.consume_front(layer.path + ".");
    argument->setLoc(NameLoc::get(builder.getStringAttr(part)));
    function.setArgAttr(argument->getArgNumber(), xfmr::kWeightArgAttr, builder.getUnitAttr());
    values[id] = *argument++;
  }

  builder.setInsertionPointToStart(body);
  Results results = LayerBody(builder, stack, layer, sequences, headMask, values).emit(hidden, probabilities);
  SmallVector<Value> returned = {results.hidden};
  if (probabilities)
    returned.push_back(results.probabilities);
  func::ReturnOp::create(builder, function.getLoc(), returned);
  function.setFunctionType(builder.getFunctionType(arguments, ValueRange(returned).getTypes()));
  return function;
}

LayerFunctions::Results LayerFunctions::call(OpBuilder &builder, const LayerSpec &layer, Value hidden, const Sequences &sequences,
                                             Value headMask, bool probabilities) {
  SmallVector<Value> operands = {hidden, sequences.offsets, sequences.length};
  for (Value optional : {sequences.mask, headMask})
    if (optional)
      operands.push_back(optional);
  SmallVector<ParameterId> parameters = parametersOf(layer);
  for (ParameterId id : parameters)
    operands.push_back(weights.get(builder, id));

  std::string key = constantsOf(layer);
  llvm::raw_string_ostream(key) << ' ' << bool(sequences.mask) << bool(headMask) << probabilities << ' '
                                << builder.getFunctionType(ValueRange(operands).getTypes(), {});
  auto known = functions.find(key);
  if (known == functions.end()) {
    func::FuncOp created = create(builder.getBlock()->getParentOp(), layer, ValueRange(operands).getTypes(), parameters,
                                  bool(sequences.mask), bool(headMask), probabilities);
    known = functions.emplace(std::move(key), created).first;
  }
  Location loc = NameLoc::get(builder.getStringAttr(layer.path));
  auto call = func::CallOp::create(builder, loc, known->second, operands);
  return {call.getResult(0), probabilities ? call.getResult(1) : Value()};
}
