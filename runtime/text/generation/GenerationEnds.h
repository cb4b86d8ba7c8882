//===- GenerationEnds.h - The ids that end a text -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_GENERATION_GENERATIONENDS_H
#define ATTUNE_RUNTIME_TEXT_GENERATION_GENERATIONENDS_H

#include "attune/generate.h"
#include "attune/text.h"
#include "runtime/src/generation/ScratchBuffer.h"

namespace attune::text {

/// The end ids of a generation, in this order: those of its options, those that the caller adds, and the ids of special
/// tokens whose strings are stop strings. By default texts leave special tokens out, so such a stop string would never
/// be found in a text.
class GenerationEnds {
public:
  /// Takes memory. |more| has |numMore| ids that the caller adds. Fails with INVALID_ARGUMENT if a stop string is null
  /// or empty or an array of |options| with elements is null, or with OUT_OF_MEMORY.
  attune_status open(const attune_text *text, const attune_generation_options &options, const int64_t *more, size_t numMore);

  const int64_t *ids() const { return static_cast<const int64_t *>(memory.get()); }
  size_t size() const { return count; }
  /// Returns the number of ids of the options and of the caller; they come before the ids of stop strings.
  size_t numPlain() const { return plain; }

private:
  ScratchBuffer memory;
  size_t count = 0, plain = 0;
};

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_GENERATION_GENERATIONENDS_H
