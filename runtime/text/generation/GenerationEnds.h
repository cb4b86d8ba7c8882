//===- GenerationEnds.h - The ids that end a text -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_GENERATION_GENERATIONENDS_H
#define ATTUNE_RUNTIME_TEXT_GENERATION_GENERATIONENDS_H

#include "attune/generate.h"
#include "attune/text.h"
#include "runtime/src/generation/ScratchBuffer.h"

namespace attune::text {

/// The end ids of a generation: those of its settings, then |more|, then the special tokens that are stop strings,
/// which texts leave out, so that they would never be found there.
class GenerationEnds {
public:
  /// Takes memory. Fails with INVALID_ARGUMENT for a stop string that is null or empty and for a missing array of
  /// |options|, or with OUT_OF_MEMORY.
  attune_status open(const attune_text *text, const attune_generation_options &options, const int64_t *more, size_t numMore);

  const int64_t *ids() const { return static_cast<const int64_t *>(memory.get()); }
  size_t size() const { return count; }
  /// Returns the number of ids that stand for no stop string; they come first.
  size_t numPlain() const { return plain; }

private:
  ScratchBuffer memory;
  size_t count = 0, plain = 0;
};

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_GENERATION_GENERATIONENDS_H
