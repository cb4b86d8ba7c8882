//===- Languages.h - The languages of a translator ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Multilingual translators have a token for each language. The families spell and place them differently:
//
//   NLLB         "eng_Latn"   before the source (by the tokenizer), first token of the target (forced_bos_token_id)
//   mBART-50     "en_XX"      the same
//   M2M100       "__en__"     the same
//   mBART-25     "en_XX"      behind the source, start token of the target (decoder_start_token_id)
//   Marian       ">>fra<<"    the language of the target, before the source (in the text)
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_GENERATION_LANGUAGES_H
#define ATTUNE_RUNTIME_TEXT_GENERATION_LANGUAGES_H

#include "attune/generate.h"
#include "attune/text.h"

namespace attune::text {

/// The ids of the tokens that choose the languages of a generation; -1 for none.
struct Languages {
  int64_t source = -1; ///< replaces the language that the tokenizer adds to sources
  int64_t prefix = -1; ///< goes before each source
};

/// Finds the tokens of the languages |source| and |target|: the token of that name if it is spelled as a language, else
/// "__name__". A null name changes nothing. Writes the source to |languages|.source. Writes the target to |options|: to
/// decoder_start_token_id if that option is a language, else to forced_bos_token_id. If only the token ">>target<<"
/// exists, writes it to |languages|.prefix instead. Fails with INVALID_ARGUMENT if a name has no token.
attune_status chooseLanguages(const attune_text *text, const char *source, const char *target, attune_generation_options &options,
                              Languages &languages);

/// Returns true if token |id| of |text| is spelled as a language of NLLB, mBART or M2M100. Returns false for languages
/// of Marian (">>fra<<") and if there is no such token.
bool isLanguage(const attune_text *text, int64_t id);

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_GENERATION_LANGUAGES_H
