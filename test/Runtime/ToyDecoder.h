//===- ToyDecoder.h - Compiled decoders written by hand ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A cache holds the ids of each slot, and logits are reference::toyLogits of them, so the reference of generation
// predicts the result. The encoder-decoder keeps the sum of its source's visible ids, which stands before the ids.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_TOYDECODER_H
#define ATTUNE_TEST_TOYDECODER_H

#include "attune/generate.h"

#include <vector>

namespace toy {

/// The size of the vocabulary, and the largest number of tokens in a slot.
constexpr int64_t vocabSize = 11, positions = 24;

/// Counts of the work that the entries have done.
struct Record {
  int64_t encoded = 0;                     ///< rows
  int64_t prefilled = 0;                   ///< tokens that prefill has read
  std::vector<std::vector<int64_t>> slots; ///< of each decode step
};
extern Record record;

/// Returns a decoder whose model has the options |generation|, which may be null.
attune_model_desc makeDecoder(const attune_generation_options *generation);
attune_model_desc makeEncoderDecoder(const attune_generation_options *generation);

} // namespace toy

#endif // ATTUNE_TEST_TOYDECODER_H
