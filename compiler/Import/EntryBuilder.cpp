//===- EntryBuilder.cpp - The entries of a model --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/EntryBuilder.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace attune;
using namespace mlir;

ModelLayers::ModelLayers(const TransformerSpec &spec, WeightTable &weights) {
  if (spec.encoder)
    encoder.emplace(spec, *spec.encoder, weights);
  if (spec.decoder)
    decoder.emplace(spec, *spec.decoder, weights);
}

EntryBuilder::EntryBuilder(const TransformerSpec &spec, const std::vector<EntryInput> &inputs, const std::vector<EntryOutput> &outputs,
                           Padding padding, WeightTable &weights, ModelLayers &layers, ModuleOp module)
    : scope{spec, inputs, padding, weights, OpBuilder::atBlockEnd(module.getBody()), {}, {}, {}, {}}, spec(spec), outputs(outputs),
      layers(layers), results(outputs.size()) {
  weights.beginEntry();
}

/// Prepends dimensions of size 1 to |mask| up to rank 4.
static Value emitLeadingOnes(OpBuilder &builder, Value mask) {
  auto type = cast<RankedTensorType>(mask.getType());
  int64_t missing = 4 - type.getRank();
  if (missing == 0)
    return mask;
  SmallVector<int64_t> shape(missing, 1);
  SmallVector<OpFoldResult> sizes(missing, builder.getIndexAttr(1));
  SmallVector<ReassociationIndices> groups(1);
  for (int64_t dim = 0; dim < 4; ++dim) {
    if (dim > missing)
      groups.emplace_back();
    groups.back().push_back(dim);
  }
  llvm::append_range(shape, type.getShape());
  llvm::append_range(sizes, tensor::getMixedSizes(builder, mask.getLoc(), mask));
  return tensor::ExpandShapeOp::create(builder, mask.getLoc(), type.clone(shape), mask, groups, sizes);
}

/// Brings |argument| to the form that the rest of an entry expects: gives a broadcast mask rank 4, and joins batch and
/// choices to the sequences of a larger batch.
static Value toSequences(EntryScope &scope, const EntryInput &input, Value argument) {
  if (input.spec->broadcast)
    return emitLeadingOnes(scope.builder, argument);
  if (input.rank() < 2 || input.dims[1] != "choices")
    return argument;
  if (!scope.choices) {
    scope.rows = tensor::DimOp::create(scope.builder, scope.at("shape"), argument, 0);
    scope.choices = tensor::DimOp::create(scope.builder, scope.at("shape"), argument, 1);
  }
  return tensor::CollapseShapeOp::create(scope.builder, argument.getLoc(), argument, joinFirstTwo(input.rank()));
}

func::FuncOp EntryBuilder::createFunction(StringRef name, xfmr::CacheUse caches) {
  OpBuilder &builder = scope.builder;
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  for (const EntryInput &input : scope.inputs) {
    types.push_back(input.type(builder));
    attributes.push_back(builder.getDictionaryAttr(xfmr::named(input.attribute(builder))));
  }
  auto function = func::FuncOp::create(builder, scope.at(name), name, builder.getFunctionType(types, {}));
  xfmr::setEntry(function, xfmr::EntryAttr::get(builder.getContext(), builder.getStringAttr(name), caches));
  function.setAllArgAttrs(attributes);
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  for (auto [argument, input] : llvm::zip(body->getArguments(), scope.inputs)) {
    argument.setLoc(scope.at(input.spec->name));
    scope.arguments.push_back(toSequences(scope, input, argument));
  }
  return function;
}

void EntryBuilder::emit(StringRef name) {
  func::FuncOp function = createFunction(name, xfmr::CacheUse::Unused);
  if (spec.encoder && hasSource(StackRole::Encoder))
    emitStack(StackRole::Encoder);
  if (spec.decoder)
    emitStack(StackRole::Decoder);
  for (auto [result, output] : llvm::zip(results, outputs))
    if (output.kind == EntryOutput::Main) {
      const OutputSpec &head = spec.outputs[*output.index];
      Stack &stack = stackOf(head.stack.value_or(spec.mainStack()));
      result = emitHead(scope, head, *stack.tokens, stack.result);
    }
  finish(function);
}

void EntryBuilder::finish(func::FuncOp function) {
  OpBuilder &builder = scope.builder;
  SmallVector<Value> values;
  for (const EntryResult &result : results)
    values.push_back(result.value);
  // A cache that the entry only reads is not a result.
  llvm::erase_if(caches, [](const EntryCache &cache) { return isa<BlockArgument>(cache.value); });
  for (const EntryCache &cache : caches)
    values.push_back(cache.value);
  func::ReturnOp::create(builder, function.getLoc(), values);
  function.setFunctionType(builder.getFunctionType(function.getArgumentTypes(), ValueRange(values).getTypes()));
  for (auto [i, result] : llvm::enumerate(results)) {
    auto output = xfmr::OutputAttr::get(builder.getContext(), builder.getStringAttr(outputs[i].name), dimsAttribute(builder, result.dims),
                                        outputs[i].isGroup());
    function.setResultAttrs(i, xfmr::named(output));
  }
  for (auto [i, cache] : llvm::enumerate(caches))
    function.setResultAttrs(results.size() + i, xfmr::named(cache.attribute));
}
