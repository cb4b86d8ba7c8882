//===- GenerationEnds.cpp - The ids that end a text -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "GenerationEnds.h"

#include <algorithm>

using namespace attune;
using namespace attune::text;

attune_status GenerationEnds::open(const attune_text *text, const attune_generation_options &options, const int64_t *more, size_t numMore) {
  const bool lacksEnds = options.num_eos_token_ids && !options.eos_token_ids;
  if (lacksEnds || (options.num_stop_strings && !options.stop_strings))
    return fail(ATTUNE_INVALID_ARGUMENT, "%s is null", lacksEnds ? "eos_token_ids" : "stop_strings");
  ATTUNE_TRY(memory.allocate((options.num_eos_token_ids + numMore + options.num_stop_strings) * sizeof(int64_t)));
  auto *ids = static_cast<int64_t *>(memory.get());
  int64_t *end = std::copy_n(options.eos_token_ids, options.num_eos_token_ids, ids);
  auto add = [&](int64_t id) {
    if (std::find(ids, end, id) == end)
      *end++ = id;
  };
  for (size_t i = 0; i < numMore; ++i)
    add(more[i]);
  plain = static_cast<size_t>(end - ids);
  for (size_t i = 0; i < options.num_stop_strings; ++i) {
    const char *stop = options.stop_strings[i];
    if (!stop || !*stop)
      return fail(ATTUNE_INVALID_ARGUMENT, "stop_strings: text %zu is empty", i);
    int64_t id = attune_text_token_id(text, stop, strlen(stop));
    if (attune_text_is_special(text, id))
      add(id);
  }
  count = static_cast<size_t>(end - ids);
  return ATTUNE_OK;
}
