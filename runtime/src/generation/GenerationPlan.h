//===- GenerationPlan.h - What a generation needs of a model --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_GENERATION_GENERATIONPLAN_H
#define ATTUNE_RUNTIME_GENERATION_GENERATIONPLAN_H

#include "../Signature.h"
#include "Generate.h"

namespace attune {

/// A generation before it begins: entries and tensors found, options and inputs checked.
struct GenerationPlan {
  const attune_model_desc *desc;
  attune_generation_options options;
  const attune_entry_desc *encode; ///< null if the model attends to its own tokens only
  const attune_entry_desc *prefill, *decode;
  TensorList inputs;
  const attune_tensor *ids;       ///< prompts, null if every row begins with startId
  const attune_tensor *mask;      ///< of the prompts, or null
  const attune_tensor *sourceIds; ///< where a rule is about them, else null
  const attune_tensor *slots;     ///< the slot of each row as the caller wants it, or null
  const char *maskName;           ///< the input of prefill that leaves tokens out, or null
  bool reuse;                     ///< tokens that slots hold need not be computed again
  int64_t startId;
  int64_t rows, length, vocabSize;
  int64_t sourceLength; ///< 0 without sources
  int64_t sequences;    ///< most that are open at once
  int64_t room;         ///< most tokens of a sequence that the model reads
};

/// Plans a generation of |model| by |options|, null = the model's own. Fails as attune_generate does before it begins.
attune_status planGeneration(const attune_model &model, const attune_generation_options *options, TensorList inputs, GenerationPlan &plan);

} // namespace attune

#endif // ATTUNE_RUNTIME_GENERATION_GENERATIONPLAN_H
