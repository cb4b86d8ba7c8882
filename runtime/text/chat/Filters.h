//===- Filters.h - Filters and tests of chat templates --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_CHAT_FILTERS_H
#define ATTUNE_RUNTIME_TEXT_CHAT_FILTERS_H

#include "Machine.h"

namespace attune::chat {

/// The filters of templates, by their numbers in instructions.
enum class FilterName : uint16_t {
#define ATTUNE_CHAT_NAME(text, name) name,
  ATTUNE_CHAT_FILTERS(ATTUNE_CHAT_NAME)
#undef ATTUNE_CHAT_NAME
};

/// The tests of templates, by their numbers in instructions.
enum class TestName : uint16_t {
#define ATTUNE_CHAT_NAME(text, name) name,
  ATTUNE_CHAT_TESTS(ATTUNE_CHAT_NAME)
#undef ATTUNE_CHAT_NAME
};

// Each of these functions applies filter number |filter| (FilterName) to |subject| and sets |result|. For a filter that
// it does not implement, it sets |known| to false and does nothing else; otherwise it leaves |known|.
attune_status applyTextFilter(Machine &machine, uint16_t filter, const Value &subject, const Arguments &arguments, Value &result,
                              bool &known);
attune_status applySequenceFilter(Machine &machine, uint16_t filter, const Value &subject, const Arguments &arguments, Value &result,
                                  bool &known);
attune_status applyNumberFilter(Machine &machine, uint16_t filter, const Value &subject, const Arguments &arguments, Value &result,
                                bool &known);

// Return the results of Python's str.islower and str.isupper, as the tests `lower` and `upper` do.
bool isLowerText(Text text);
bool isUpperText(Text text);

} // namespace attune::chat

#endif // ATTUNE_RUNTIME_TEXT_CHAT_FILTERS_H
