//===- EntryCacheArguments.cpp - Arguments that are no inputs -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/EntryBuilder.h"

using namespace attune;
using namespace mlir;

/// The words of `xfmr.dims` for a cache of sequences or of sources.
static std::vector<std::string> cacheDims(bool ofSources, const std::vector<std::string> &rest) {
  std::vector<std::string> dims = {ofSources ? "sources" : "slots"};
  for (const std::string &dim : rest)
    dims.push_back((ofSources && (dim == "panels" || dim == "capacity") ? "source_" : "") + dim);
  return dims;
}

Value EntryBuilder::addArgument(Type type, const std::string &name, ArrayRef<NamedAttribute> attributes) {
  (void)function.insertArgument(function.getNumArguments(), type, scope.builder.getDictionaryAttr(attributes), scope.at(name));
  return function.getArguments().back();
}

Value EntryBuilder::addRowInput(const std::string &name) {
  Builder &builder = scope.builder;
  auto type = RankedTensorType::get({ShapedType::kDynamic}, builder.getI64Type());
  return addArgument(type, name,
                     {builder.getNamedAttr(xfmr::kNameAttr, builder.getStringAttr(name)),
                      builder.getNamedAttr(xfmr::kDimsAttr, dimsAttribute(builder, {"batch"})),
                      builder.getNamedAttr(xfmr::kFillAttr, builder.getStringAttr(name))});
}

Value EntryBuilder::addDimArgument(const std::string &dim) {
  Builder &builder = scope.builder;
  return addArgument(builder.getIndexType(), dim, {builder.getNamedAttr(xfmr::kDimAttr, builder.getStringAttr(dim))});
}

Value EntryBuilder::addCache(const std::string &name, bool ofSources, const std::vector<std::string> &rest) {
  Builder &builder = scope.builder;
  std::vector<std::string> dims = cacheDims(ofSources, rest);
  SmallVector<int64_t> shape;
  for (StringRef dim : dims) {
    int64_t extent;
    shape.push_back(dim.getAsInteger(10, extent) ? ShapedType::kDynamic : extent);
  }
  Value cache = addArgument(RankedTensorType::get(shape, builder.getF32Type()), name,
                            {builder.getNamedAttr(xfmr::kCacheAttr, builder.getStringAttr(name)),
                             builder.getNamedAttr(xfmr::kDimsAttr, dimsAttribute(builder, dims))});
  caches.push_back({name, dims, cache});
  return cache;
}

CachedKeys EntryBuilder::addLayerCache(int64_t layer, const AttentionSpec &attention, bool ofSources) {
  std::string heads = std::to_string(attention.kvHeads), base = std::string(pastGroup) + "." + std::to_string(layer) + ".";
  auto headSize = [&](const LinearSpec &projection) { return std::to_string(spec.shapeOf(projection.weight)[0] / attention.kvHeads); };
  int64_t part = ofSources ? 2 : 0;
  CachedKeys cache;
  cache.keys =
      addCache(base + std::to_string(part), ofSources, {heads, "panels", headSize(attention.key), std::to_string(xfmr::kCachePanelWidth)});
  cache.values = addCache(base + std::to_string(part + 1), ofSources, {heads, "capacity", headSize(attention.value)});
  return cache;
}

void EntryBuilder::updateCache(Value before, Value after) {
  for (EntryCache &cache : caches)
    if (cache.value == before)
      cache.value = after;
}
