//===- GenerationPlan.h - Entries and sizes of a generation ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_GENERATION_GENERATIONPLAN_H
#define ATTUNE_RUNTIME_GENERATION_GENERATIONPLAN_H

#include "../Signature.h"
#include "Generate.h"

namespace attune {

/// A generation before it begins: its entries and tensors, with options and inputs checked.
struct GenerationPlan {
  const attune_model_desc *desc;
  attune_generation_options options;
  const attune_entry_desc *encode; ///< null if the model is a decoder
  const attune_entry_desc *prefill, *decode;
  TensorList inputs;
  const attune_tensor *ids;       ///< the prompts; null if every row begins with startId
  const attune_tensor *mask;      ///< the mask of the prompts, or null
  const attune_tensor *sourceIds; ///< the ids of the sources if an option needs them, else null
  const attune_tensor *slots;     ///< the caller's choice of a slot for each row, or null
  const char *maskName;           ///< the name of the input by which prefill skips tokens, or null
  bool reuse;                     ///< true if prefill skips the tokens of the prompts that slots hold already
  int64_t startId;
  int64_t rows, length, vocabSize;
  int64_t sourceLength; ///< 0 without sources
  int64_t sequences;    ///< the most sequences that are open at once
  int64_t room;         ///< the most tokens of one sequence that the model reads: all but the last id chosen
};

/// Plans a generation of |model| by |options|, null = the model's own. |inputs|, whose integers must be I64, must
/// outlive |plan|. Fails as attune_generate does before it begins.
attune_status planGeneration(const attune_model &model, const attune_generation_options *options, TensorList inputs, GenerationPlan &plan);

} // namespace attune

#endif // ATTUNE_RUNTIME_GENERATION_GENERATIONPLAN_H
