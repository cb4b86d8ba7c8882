//===- DescribeCaches.cpp - Description of a session's caches -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Tools/Describe.h"

#include <iterator>

using namespace attune;

using OrderedJson = nlohmann::ordered_json;

const char *attune::cacheUseName(uint32_t use) {
  static const char *names[] = {"none", "encode", "append", "continue"};
  return use < std::size(names) ? names[use] : "unknown";
}

OrderedJson attune::describeCaches(const attune_model_desc &desc) {
  static const char *kinds[] = {"keys", "values", "mask"};
  OrderedJson result = OrderedJson::array();
  for (uint32_t i = 0; i < desc.num_caches; ++i) {
    const attune_cache_desc &cache = desc.caches[i];
    OrderedJson row;
    row["name"] = cache.name;
    row["dtype"] = attune_dtype_name(static_cast<attune_dtype>(cache.dtype));
    row["kind"] = cache.kind < std::size(kinds) ? kinds[cache.kind] : "unknown";
    row["of"] = cache.of_sources ? "sources" : "slots";
    row["heads"] = cache.heads;
    row["size"] = cache.size;
    row["bytes_per_token"] = attune_cache_token_bytes(&cache);
    result.push_back(row);
  }
  return result;
}
