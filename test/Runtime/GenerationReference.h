//===- GenerationReference.h - Generation written for clarity ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A second implementation of generation for comparison: no batches, no caches, all scores of all continuations in one
// list.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_GENERATIONREFERENCE_H
#define ATTUNE_TEST_GENERATIONREFERENCE_H

#include "attune/generate.h"

#include <vector>

namespace reference {

using Ids = std::vector<int64_t>;

/// Returns logits that depend on all of |ids|.
std::vector<float> toyLogits(const Ids &ids, int64_t vocabSize);

/// Returns the position of the first end id of |ids| at or after |from|; ids.end() if there is none.
Ids::iterator findEnd(const attune_generation_options &options, Ids &ids, int64_t from);

struct Scored {
  double score;
  Ids ids;        // eos included
  int64_t number; // index in the order in which hypotheses were found
  int64_t end;    // the id that ended it, -1 if none did
};

/// Returns the num_beams hypotheses of beam search from one prompt, the best first.
std::vector<Scored> searchBeams(const attune_generation_options &options, const Ids &prompt, int64_t vocabSize);
/// Returns the sequence of greedy search from one prompt, eos included.
Ids searchGreedily(const attune_generation_options &options, const Ids &prompt, int64_t vocabSize);
/// Returns the sequence with the best score of all, after scoring every continuation up to options.max_length.
Scored enumerate(const attune_generation_options &options, const Ids &prompt, int64_t vocabSize);

} // namespace reference

#endif // ATTUNE_TEST_GENERATIONREFERENCE_H
