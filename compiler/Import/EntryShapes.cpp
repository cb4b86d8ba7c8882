//===- EntryShapes.cpp - Padded tensors to tokens and back ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The parts of EntryBuilder that change shapes: between padded and token tensors, and from members to stacked groups.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/EntryBuilder.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace attune;
using namespace mlir;

/// The reassociation that joins the first two of |rank| dimensions.
static SmallVector<ReassociationIndices> joinFirstTwo(int64_t rank) {
  SmallVector<ReassociationIndices> groups = {{0, 1}};
  for (int64_t dim = 2; dim < rank; ++dim)
    groups.push_back({dim});
  return groups;
}

Value EntryBuilder::toTokens(Value padded) {
  auto type = cast<RankedTensorType>(padded.getType());
  Location loc = padded.getLoc();
  Value flat = tensor::CollapseShapeOp::create(builder, loc, padded, joinFirstTwo(type.getRank()));
  return positions ? Value(xfmr::GatherTokensOp::create(builder, loc, flat, positions)) : flat;
}

Value EntryBuilder::toPadded(Value packed, bool squeeze) {
  Location loc = packed.getLoc();
  if (positions)
    packed = xfmr::ScatterTokensOp::create(builder, loc, packed, positions, tokens);
  if (squeeze)
    packed = tensor::CollapseShapeOp::create(builder, loc, packed, SmallVector<ReassociationIndices>{{0, 1}});
  auto type = cast<RankedTensorType>(packed.getType());
  SmallVector<int64_t> shape = {ShapedType::kDynamic, ShapedType::kDynamic};
  SmallVector<OpFoldResult> sizes = {batch, length};
  for (int64_t extent : type.getShape().drop_front()) {
    shape.push_back(extent);
    sizes.push_back(builder.getIndexAttr(extent));
  }
  return tensor::ExpandShapeOp::create(builder, loc, type.clone(shape), packed, joinFirstTwo(int64_t(shape.size())), sizes);
}

bool EntryBuilder::wanted(EntryOutput::Kind kind, int64_t member) const {
  return llvm::any_of(outputs, [&](const EntryOutput &output) { return output.wants(kind, member); });
}

void EntryBuilder::capture(EntryOutput::Kind kind, int64_t member, int64_t members, Value value, const std::vector<std::string> &dims) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<OpFoldResult> extents;
  for (auto [dim, extent] : llvm::zip(dims, type.getShape()))
    extents.push_back(dim == "batch" ? OpFoldResult(batch) : dim == "length" ? OpFoldResult(length) : builder.getIndexAttr(extent));

  for (auto [output, result] : llvm::zip(outputs, results)) {
    if (!output.wants(kind, member))
      continue;
    if (!output.isGroup()) {
      result = {value, dims};
      continue;
    }
    if (!result.value) {
      SmallVector<OpFoldResult> all = {builder.getIndexAttr(members)};
      all.append(extents);
      result.dims = dims;
      result.dims.insert(result.dims.begin(), std::to_string(members));
      result.value = tensor::EmptyOp::create(builder, at(output.name), all, type.getElementType());
    }
    SmallVector<OpFoldResult> offsets(extents.size() + 1, builder.getIndexAttr(0)), strides(extents.size() + 1, builder.getIndexAttr(1));
    offsets[0] = builder.getIndexAttr(member);
    SmallVector<OpFoldResult> sizes = {builder.getIndexAttr(1)};
    sizes.append(extents);
    Location loc = at(output.name + "." + std::to_string(member));
    result.value = tensor::InsertSliceOp::create(builder, loc, value, result.value, offsets, sizes, strides);
  }
}
