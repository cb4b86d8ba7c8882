//===- Graphemes.h - Extended grapheme clusters ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_GRAPHEMES_H
#define ATTUNE_RUNTIME_TEXT_GRAPHEMES_H

#include "runtime/text/Tables.h"

namespace attune::text {

/// Returns the end of the extended grapheme cluster (Unicode Standard Annex 29) that begins at |at| < |end|.
/// |classes| are UnicodeData::graphemes.
const uint8_t *findGraphemeEnd(const Runs &classes, const uint8_t *at, const uint8_t *end);

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_GRAPHEMES_H
