//===- StringOperations.h - Operations on strings -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that the methods of strings share with filters. Their results are escaped strings (Markup) if |self| is
// one, or where there is no |self|, if |escaped| is true.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_CHAT_STRINGOPERATIONS_H
#define ATTUNE_RUNTIME_TEXT_CHAT_STRINGOPERATIONS_H

#include "Machine.h"

namespace attune::chat {

/// Sets |result| to |self| in lower case, as Python's str.lower does.
attune_status lowerText(Machine &machine, const Value &self, Value &result);
/// Sets |result| to |self| in upper case, as Python's str.upper does.
attune_status upperText(Machine &machine, const Value &self, Value &result);
/// Sets |result| to |self| with its first character in title case and the others in lower case.
attune_status capitalizeText(Machine &machine, const Value &self, Value &result);
/// Sets |result| to |self| with the first character of each word, a run of cased characters, in title case and the
/// others in lower case.
attune_status titleText(Machine &machine, const Value &self, Value &result);
/// Returns the offset in bytes of the first |part| in |text| at or after |begin|, SIZE_MAX if there is none.
size_t findText(Text text, Text part, size_t begin = 0);
/// Sets |result| to |self| without the run of characters at its left end (if |left|) and at its right end (if |right|)
/// that occur in the string |characters|, or are white space if |characters| is Missing or None. Fails for other values
/// of |characters|.
attune_status stripText(Machine &machine, const Value &self, const Value &characters, bool left, bool right, Value &result);
/// Sets |result| to |text| with |to| in place of the first |count| occurrences of |from|; a negative |count| replaces
/// all. An empty |from| occurs before each character and at the end.
attune_status replaceText(Machine &machine, Text text, Text from, Text to, int64_t count, bool escaped, Value &result);
/// Sets |lines| to the lines of |text|, as Python's str.splitlines does, with their line ends if |keepEnds|.
attune_status splitLines(Machine &machine, Text text, bool keepEnds, bool escaped, Array *&lines);
/// Sets |result| to |self|, padded on both sides with |fill|, one character, to |width| characters, as Python's
/// str.center does.
attune_status centerText(Machine &machine, const Value &self, int64_t width, Text fill, Value &result);

} // namespace attune::chat

#endif // ATTUNE_RUNTIME_TEXT_CHAT_STRINGOPERATIONS_H
