//===- ToyDecoder.h - Compiled decoders written by hand ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cache of the decoder holds the ids of each slot. Its logits are reference::toyLogits of these ids, so
// GenerationReference.h predicts a generation. The encoder-decoder has a second cache, which holds for each source the
// sum of the ids that the mask does not hide. Its logits are those of the sequence of this sum and the ids of the slot.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_TOYDECODER_H
#define ATTUNE_TEST_TOYDECODER_H

#include "attune/generate.h"

#include <vector>

namespace toy {

/// The size of the vocabulary, and the number of tokens for which a slot has room.
constexpr int64_t vocabSize = 11, positions = 24;

/// The work that the entries have done since the program began or a test reset this record.
struct Record {
  int64_t encoded = 0;                     ///< rows that encode has read
  int64_t prefilled = 0;                   ///< tokens that prefill of the decoder has read, without padding
  std::vector<std::vector<int64_t>> slots; ///< for each decode step, the slots of its rows
};
extern Record record;

/// These functions return a model with the generation options |generation|, which are borrowed and may be null.
attune_model_desc makeDecoder(const attune_generation_options *generation);
attune_model_desc makeEncoderDecoder(const attune_generation_options *generation);

} // namespace toy

#endif // ATTUNE_TEST_TOYDECODER_H
