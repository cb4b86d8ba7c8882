//===- LayerFunctions.cpp - One function per layer signature --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/LayerFunctions.h"

#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune;
using namespace mlir;

namespace {

/// Computes the signature of a layer and lists its weights in argument order. Layers with the same signature have the
/// same code, apart from the types of arguments.
class LayerSignature {
public:
  explicit LayerSignature(const LayerSpec &layer) : out(text) {
    out << (layer.parallel ? "parallel " : "");
    if (layer.attention)
      add(*layer.attention, "attention"), add(layer.attentionNorm), add(layer.attentionResultNorm);
    if (layer.distanceBias)
      add(*layer.distanceBias);
    if (layer.cross)
      add(*layer.cross, layer.crossFromMemory ? "cross-from-memory" : "cross"), add(layer.crossNorm);
    if (layer.ffn)
      add(*layer.ffn), add(layer.ffnNorm), add(layer.ffnResultNorm);
    if (layer.experts)
      add(*layer.experts), add(layer.ffnNorm), add(layer.ffnResultNorm);
  }

  /// Computes the signature of the function that writes keys and values of cross attention to caches.
  explicit LayerSignature(const AttentionSpec &cross) : out(text) {
    out << "cross keys " << cross.kvHeads << ' ';
    add(cross.key), add(cross.value);
  }

  SmallVector<WeightId> weights;
  std::string text;

private:
  void add(WeightId id) {
    out << (id != noWeight);
    if (id != noWeight)
      weights.push_back(id);
  }
  void add(double value) { out << ' ' << llvm::format_hex(llvm::bit_cast<uint64_t>(value), 18) << ' '; }
  template <typename T>
  void add(const std::optional<T> &value) {
    out << value.has_value();
    if (value)
      add(double(*value));
  }
  void add(const HeadNormSpec &head) {
    out << head.extent;
    add(head.norm), add(head.factors);
  }
  void add(const LinearSpec &linear) { add(linear.weight), add(linear.bias); }
  void add(const NormSpec &norm) { add(norm.weight), add(norm.bias), add(norm.epsilon); }
  void add(const LatentSpec &latent) { add(latent.projection), add(latent.norm); }
  void add(const AttentionSpec &attention, const char *part) {
    out << part << ' ' << attention.heads << ' ' << attention.kvHeads << ' ' << attention.causal << ' '
        << attention.queryKeyMaskReplacesCausal << ' ' << xfmr::stringifyMaskedRows(attention.maskedRows) << ' '
        << xfmr::stringifyScoreStage(attention.scoreStage);
    add(attention.scale), add(attention.windowLeft), add(attention.windowRight), add(attention.softcap), add(attention.clip);
    out << attention.interleaved << attention.normsTurned;
    add(attention.query), add(attention.key), add(attention.value), add(attention.output);
    add(attention.queryLatent), add(attention.keyLatent), add(attention.sharedKey);
    add(attention.queryNorm), add(attention.keyNorm);
    add(attention.rotary), add(attention.relativeKey), add(attention.sinks);
    // If relativeQuery and relativeKey are the same table, it is one argument of the function.
    bool shared = attention.relativeQuery == attention.relativeKey;
    out << shared;
    add(shared ? noWeight : attention.relativeQuery);
  }
  void add(const DistanceBiasSpec &bias) {
    out << "bias " << bias.bidirectional << ' ' << bias.maxDistance;
    add(bias.table), add(bias.slopes);
  }
  void add(const FfnSpec &ffn) {
    out << "ffn " << xfmr::stringifyActivation(ffn.activation);
    add(ffn.up), add(ffn.down), add(ffn.gate);
  }
  void add(const ExpertsSpec &experts) {
    out << "experts " << experts.chosen << experts.normalized << experts.sigmoid << ' ' << experts.clampedGlu.has_value();
    add(experts.choiceBias);
    if (experts.groups)
      out << "groups " << experts.groups->count << ' ' << experts.groups->kept << ' ' << experts.groups->keys << ' ';
    if (experts.clampedGlu)
      add(experts.clampedGlu->limit), add(experts.clampedGlu->alpha);
    add(experts.router), add(experts.networks);
    out << experts.shared.has_value();
    if (experts.shared)
      add(*experts.shared), add(experts.sharedGate);
  }

  llvm::raw_string_ostream out;
};

} // namespace

func::FuncOp LayerFunctions::create(Operation *entry, const LayerSpec &layer, const LayerOperands &operands, ArrayRef<WeightId> weightIds,
                                    const std::string &base, Emit emit) {
  OpBuilder builder(entry);
  // The caller has already added this function to |functions|.
  std::string name = functions.size() > 1 ? base + "_" + std::to_string(functions.size() - 1) : base;
  Location loc = NameLoc::get(builder.getStringAttr(name));
  auto function = func::FuncOp::create(builder, loc, name, builder.getFunctionType({}, {}));
  function.setPrivate();
  Block *body = function.addEntryBlock();

  LayerOperands arguments = operands;
  arguments.forEach([&](Value &value) {
    if (value)
      value = body->addArgument(value.getType(), loc);
  });
  std::map<WeightId, Value> values;
  for (WeightId id : weightIds) {
    StringRef part = spec.weights[id].name;
    part.consume_front(layer.path + ".");
    auto type = RankedTensorType::get(spec.shapeOf(id), builder.getF32Type());
    values[id] = body->addArgument(type, NameLoc::get(builder.getStringAttr(part)));
  }

  builder.setInsertionPointToStart(body);
  SmallVector<Value> returned;
  LayerBody emitter(builder, stack, layer, arguments, values);
  LayerResults results = emit(emitter);
  results.forEach([&](Value &value) {
    if (value)
      returned.push_back(value);
  });
  func::ReturnOp::create(builder, loc, returned);
  function.setFunctionType(builder.getFunctionType(body->getArgumentTypes(), ValueRange(returned).getTypes()));
  for (const auto &[id, value] : values)
    function.setArgAttrs(cast<BlockArgument>(value).getArgNumber(), xfmr::getWeightMark(builder.getContext()));
  return function;
}

func::CallOp LayerFunctions::callShared(OpBuilder &builder, const LayerSpec &layer, const LayerOperands &operands,
                                        ArrayRef<WeightId> weightIds, std::string text, const std::string &name, Emit emit) {
  llvm::raw_string_ostream key(text);
  SmallVector<Value> values;
  LayerOperands(operands).forEach([&](Value &value) {
    key << ' ';
    if (!value)
      return;
    key << value.getType();
    values.push_back(value);
  });
  for (WeightId id : weightIds) {
    values.push_back(weights.get(builder, id));
    key << ' ' << values.back().getType();
  }
  func::FuncOp &function = functions[text];
  if (!function)
    function = create(builder.getBlock()->getParentOp(), layer, operands, weightIds, name, emit);
  return func::CallOp::create(builder, NameLoc::get(builder.getStringAttr(layer.path)), function, values);
}

AttentionResults LayerFunctions::callCrossKeys(OpBuilder &builder, const LayerSpec &layer, const LayerOperands &operands) {
  LayerSignature signature(*layer.cross);
  auto called = callShared(builder, layer, operands, signature.weights, signature.text, stack.name + "_cross_keys", [](LayerBody &body) {
    LayerResults results;
    results.cross = body.emitCrossKeys();
    return results;
  });
  return {Value(), called.getResult(0), called.getResult(1)};
}

LayerResults LayerFunctions::call(OpBuilder &builder, const LayerSpec &layer, const LayerOperands &operands, const LayerRequest &request) {
  LayerSignature signature(layer);
  // A stack that is a single attention calls no function: the entry contains the operation.
  if (stack.placement == NormPlacement::None) {
    std::map<WeightId, Value> values;
    for (WeightId id : signature.weights)
      values[id] = weights.get(builder, id);
    return LayerBody(builder, stack, layer, operands, values).emit(request);
  }
  llvm::raw_string_ostream key(signature.text);
  for (const AttentionRequest &part : {request.own, request.cross})
    key << ' ' << part.probabilities << part.key << part.value;
  func::CallOp called = callShared(builder, layer, operands, signature.weights, signature.text, stack.name + "_layer",
                                   [&](LayerBody &body) { return body.emit(request); });
  LayerResults results;
  unsigned next = 0;
  results.hidden = called.getResult(next++);
  auto take = [&](const AttentionRequest &wanted, AttentionResults &part) {
    for (auto [isWanted, value] :
         {std::pair(wanted.probabilities, &part.probabilities), std::pair(wanted.key, &part.key), std::pair(wanted.value, &part.value)})
      if (isWanted)
        *value = called.getResult(next++);
  };
  take(request.own, results.own);
  take(request.cross, results.cross);
  return results;
}
