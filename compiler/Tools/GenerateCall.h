//===- GenerateCall.h - One generation from named tensors -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_GENERATECALL_H
#define ATTUNE_COMPILER_TOOLS_GENERATECALL_H

#include "compiler/Support/GenerationSettings.h"
#include "compiler/Support/Safetensors.h"
#include "compiler/Tools/Commands.h"

namespace attune {

/// Returns the request for a model that generates from inputs with the names, types and shapes of |inputs|, and from
/// further inputs called |names|, with the types and shapes that the model defines.
ModelRequest generationRequest(const std::vector<TensorSpec> &inputs, const std::vector<std::string> &names = {});

/// Generates from |inputs|, with |settings| overriding the model's own, in a session of the smallest sufficient size.
/// Converts integers to I64 and floats to F32. Adds an `attention_mask` if `input_ids` have padding and |inputs| have
/// no mask. |threads| 0 means one thread for each CPU of the affinity mask. |wanted| lists outputs: `sequences`,
/// `sequences_scores` (only with beams) and `step_logits`; empty means all but `step_logits`.
Result<std::vector<OwnedTensor>> runGeneration(const Artifact &artifact, const std::vector<TensorView> &inputs, GenerationSettings settings,
                                               const std::vector<std::string> &wanted, int64_t threads);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_GENERATECALL_H
