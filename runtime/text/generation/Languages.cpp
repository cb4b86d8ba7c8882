//===- Languages.cpp - The languages of a translator ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Languages.h"
#include "runtime/src/Error.h"

#include <cstdio>
#include <cstring>

using namespace attune;
using namespace attune::text;

/// Returns the number of consecutive bytes of |text| from index |begin| on that are in the range |first| to |last|,
/// both included. |text| has |size| bytes.
static size_t countRange(const char *text, size_t size, size_t begin, char first, char last) {
  size_t count = 0;
  while (begin + count < size && text[begin + count] >= first && text[begin + count] <= last)
    ++count;
  return count;
}

/// Returns true if |text| is two or three lower-case letters, "_", and a script as in NLLB ("Latn") or a country as in
/// mBART ("XX").
static bool isTagged(const char *text, size_t size) {
  size_t letters = countRange(text, size, 0, 'a', 'z');
  if (letters < 2 || letters > 3 || letters + 1 >= size || text[letters] != '_')
    return false;
  size_t rest = letters + 1, capitals = countRange(text, size, rest, 'A', 'Z');
  return (capitals == 2 && rest + 2 == size) || (capitals == 1 && countRange(text, size, rest + 1, 'a', 'z') == 3 && rest + 4 == size);
}

bool attune::text::isLanguage(const attune_text *text, int64_t id) {
  size_t size = 0;
  const char *token = attune_text_token(text, id, &size);
  if (!token)
    return false;
  size_t letters = size > 4 ? countRange(token, size, 2, 'a', 'z') : 0;
  bool underlined = letters >= 2 && letters + 4 == size && memcmp(token, "__", 2) == 0 && memcmp(token + size - 2, "__", 2) == 0;
  return underlined || isTagged(token, size);
}

/// Returns the id of the token |before| + |name| + |after|, or -1 if it does not exist or has more than 63 bytes.
static int64_t findToken(const attune_text *text, const char *before, const char *name, const char *after) {
  char token[64];
  int size = snprintf(token, sizeof(token), "%s%s%s", before, name, after);
  return size > 0 && static_cast<size_t>(size) < sizeof(token) ? attune_text_token_id(text, token, static_cast<size_t>(size)) : -1;
}

attune_status attune::text::chooseLanguages(const attune_text *text, const char *source, const char *target,
                                            attune_generation_options &options, Languages &languages) {
  auto find = [&](const char *name) {
    int64_t id = findToken(text, "", name, "");
    return id >= 0 && isLanguage(text, id) ? id : findToken(text, "__", name, "__");
  };
  if (source && (languages.source = find(source)) < 0)
    return fail(ATTUNE_INVALID_ARGUMENT, "the tokenizer has no source language '%s'", source);
  if (!target)
    return ATTUNE_OK;
  int64_t id = find(target);
  if (id < 0 && (languages.prefix = findToken(text, ">>", target, "<<")) < 0)
    return fail(ATTUNE_INVALID_ARGUMENT, "the tokenizer has no target language '%s'", target);
  if (id >= 0)
    (isLanguage(text, options.decoder_start_token_id) ? options.decoder_start_token_id : options.forced_bos_token_id) = id;
  return ATTUNE_OK;
}
