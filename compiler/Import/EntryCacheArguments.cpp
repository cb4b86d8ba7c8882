//===- EntryCacheArguments.cpp - Arguments that are no inputs -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/EntryBuilder.h"

using namespace attune;
using namespace mlir;

/// Returns the dims of a cache of self-attention or, with |ofSources|, of cross attention: the slots or sources, then
/// |rest|. In a cache of cross attention, "panels" and "capacity" become "source_panels" and "source_capacity".
static std::vector<std::string> cacheDims(bool ofSources, const std::vector<std::string> &rest) {
  std::vector<std::string> dims = {ofSources ? "sources" : "slots"};
  for (const std::string &dim : rest)
    dims.push_back((ofSources && (dim == "panels" || dim == "capacity") ? "source_" : "") + dim);
  return dims;
}

Value EntryBuilder::addArgument(Type type, StringRef name, NamedAttribute attribute) {
  (void)function.insertArgument(function.getNumArguments(), type, scope.builder.getDictionaryAttr(attribute), scope.at(name));
  return function.getArguments().back();
}

Value EntryBuilder::addRowInput(xfmr::InputDefault value) {
  Builder &builder = scope.builder;
  StringRef name = xfmr::stringifyInputDefault(value);
  auto input = xfmr::InputAttr::get(builder.getContext(), builder.getStringAttr(name), dimsAttribute(builder, {"batch"}), value, 0);
  return addArgument(RankedTensorType::get({ShapedType::kDynamic}, builder.getI64Type()), name, xfmr::named(input));
}

Value EntryBuilder::addDimArgument(xfmr::SessionDim dim) {
  Builder &builder = scope.builder;
  return addArgument(builder.getIndexType(), xfmr::stringifySessionDim(dim),
                     xfmr::named(xfmr::SessionDimAttr::get(builder.getContext(), dim)));
}

Value EntryBuilder::addCache(const std::string &name, bool ofSources, const std::vector<std::string> &rest) {
  Builder &builder = scope.builder;
  std::vector<std::string> dims = cacheDims(ofSources, rest);
  SmallVector<int64_t> shape;
  for (StringRef dim : dims) {
    int64_t extent;
    shape.push_back(dim.getAsInteger(10, extent) ? ShapedType::kDynamic : extent);
  }
  auto attribute = xfmr::CacheAttr::get(builder.getContext(), builder.getStringAttr(name), dimsAttribute(builder, dims));
  Value cache = addArgument(RankedTensorType::get(shape, builder.getF32Type()), name, xfmr::named(attribute));
  caches.push_back({attribute, cache});
  return cache;
}

CachedKeys EntryBuilder::addLayerCache(int64_t layer, const AttentionSpec &attention, bool ofSources) {
  std::string heads = std::to_string(attention.kvHeads), base = std::string(pastGroup) + "." + std::to_string(layer) + ".";
  int64_t part = ofSources ? 2 : 0;
  CachedKeys cache;
  const std::string keySize = std::to_string(spec.keySize(attention)), valueSize = std::to_string(spec.valueSize(attention));
  cache.keys =
      addCache(base + std::to_string(part), ofSources, {heads, "panels", keySize, std::to_string(xfmr::kCachePanelWidth)});
  cache.values = addCache(base + std::to_string(part + 1), ofSources, {heads, "capacity", valueSize});
  return cache;
}

void EntryBuilder::updateCache(Value before, Value after) {
  for (EntryCache &cache : caches)
    if (cache.value == before)
      cache.value = after;
}
