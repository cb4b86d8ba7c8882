//===- NormalizationForm.h - NFD, NFC, NFKD and NFKC ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_NORMALIZATIONFORM_H
#define ATTUNE_RUNTIME_TEXT_NORMALIZATIONFORM_H

#include "runtime/text/AlignedText.h"
#include "runtime/text/Tables.h"

namespace attune::text {

/// A character between decomposition and composition.
struct FormCharacter {
  uint32_t character;
  uint8_t combining; ///< canonical combining class
  int32_t change;    ///< its change of the text, as Transform.h counts it
};

/// Converts parts of texts to a normalization form of Unicode.
class NormalizationForm {
public:
  /// Allocates the buffer. |capacity| is the largest number of characters of a part after decomposition.
  void open(const Tables &tables, Memory &memory, size_t capacity);
  /// Decomposes the bytes [begin, stop) of |text| to NFD or NFKD, sorts marks and, for NFC and NFKC, composes; |flags|
  /// are FormFlags. Appends the result to |out|, and sets out.bytes.full if the part has more characters than open
  /// allows. The change (Transform.h) of a composed character is the sum of the changes of its two parts minus one.
  void append(uint32_t flags, const AlignedText &text, size_t begin, size_t stop, TextBuilder &out);

private:
  const Tables *tables = nullptr;
  Array<FormCharacter> form;
};

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_NORMALIZATIONFORM_H
