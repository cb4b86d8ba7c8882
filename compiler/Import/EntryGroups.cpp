//===- EntryGroups.cpp - Values of layers as outputs ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The parts of EntryBuilder that store hidden states, probabilities, keys and values in outputs: as single members, or
// stacked with the others of their group.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/EntryBuilder.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace attune;
using namespace mlir;

bool EntryBuilder::wanted(EntryOutput::Kind kind, StackRole role, int64_t member) const {
  return llvm::any_of(outputs, [&](const EntryOutput &output) { return output.wants(kind, role, member); });
}

SmallVector<OpFoldResult> EntryBuilder::extentsOf(const EntryResult &value) {
  SmallVector<OpFoldResult> extents;
  for (StringRef dim : value.dims) {
    int64_t number;
    if (!dim.getAsInteger(10, number)) {
      extents.push_back(scope.builder.getIndexAttr(number));
      continue;
    }
    if (totalLength && dim == "total_length") {
      extents.push_back(totalLength);
      continue;
    }
    for (const TokenBatch *tokens :
         {encoder.tokens ? &*encoder.tokens : nullptr, decoder.tokens ? &*decoder.tokens : nullptr, memory ? &*memory : nullptr})
      if (tokens && (dim == "batch" || dim == tokens->lengthDim())) {
        extents.push_back(dim == "batch" ? tokens->batch() : tokens->length());
        break;
      }
  }
  return extents;
}

void EntryBuilder::captureAttention(EntryOutput::Kind kind, StackRole role, int64_t layer, const AttentionSpec &attention,
                                    const AttentionResults &values, TokenBatch &keys, const std::string &keyDim, int64_t part) {
  TokenBatch &tokens = *stackOf(role).tokens;
  if (values.probabilities) {
    Value map = tokens.toPaddedProbabilities(values.probabilities, keys);
    capture(kind, role, layer, {map, {"batch", std::to_string(attention.heads), tokens.lengthDim(), keyDim}});
  }
  for (Value cached : {values.key, values.value}) {
    if (cached) {
      std::string size = std::to_string(cast<RankedTensorType>(cached.getType()).getDimSize(3));
      capture(EntryOutput::KeysValues, role, layer * spec.stack(role).cachedParts() + part,
              {cached, {"batch", std::to_string(attention.kvHeads), keyDim, size}});
    }
    ++part;
  }
}

void EntryBuilder::capture(EntryOutput::Kind kind, StackRole role, int64_t member, const EntryResult &captured) {
  OpBuilder &builder = scope.builder;
  SmallVector<OpFoldResult> extents = extentsOf(captured);
  SmallVector<int64_t> shape;
  for (StringRef dim : captured.dims) {
    int64_t number;
    shape.push_back(dim.getAsInteger(10, number) ? ShapedType::kDynamic : number);
  }
  auto type = cast<RankedTensorType>(captured.value.getType()).clone(shape);
  // A dimension may have a static size in the signature of the entry and a dynamic size in the type of the value, which
  // is then cast.
  Value value = captured.value;
  if (type != value.getType())
    value = tensor::CastOp::create(builder, value.getLoc(), type, value);

  for (auto [output, result] : llvm::zip(outputs, results)) {
    if (!output.wants(kind, role, member))
      continue;
    if (!output.isGroup()) {
      result = {value, captured.dims};
      continue;
    }
    if (!result.value) {
      SmallVector<OpFoldResult> all = {builder.getIndexAttr(output.members)};
      all.append(extents);
      result.dims = captured.dims;
      result.dims.insert(result.dims.begin(), std::to_string(output.members));
      result.value = tensor::EmptyOp::create(builder, scope.at(output.name), all, type.getElementType());
    }
    SmallVector<OpFoldResult> offsets(extents.size() + 1, builder.getIndexAttr(0)), strides(extents.size() + 1, builder.getIndexAttr(1));
    offsets[0] = builder.getIndexAttr(member);
    SmallVector<OpFoldResult> sizes = {builder.getIndexAttr(1)};
    sizes.append(extents);
    Location loc = scope.at(output.name + "." + std::to_string(member));
    result.value = tensor::InsertSliceOp::create(builder, loc, value, result.value, offsets, sizes, strides);
  }
}
