//===- GenerateCall.h - One generation from named tensors -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_GENERATECALL_H
#define ATTUNE_COMPILER_TOOLS_GENERATECALL_H

#include "compiler/Support/GenerationSettings.h"
#include "compiler/Support/Safetensors.h"
#include "compiler/Tools/Commands.h"

namespace attune {

/// Returns the request for a model that generates from inputs like |inputs| and others called |names|.
ModelRequest generationRequest(const std::vector<TensorSpec> &inputs, const std::vector<std::string> &names = {});

/// Generates from |inputs| with |settings| over the model's own, in a session that is just large enough; |threads| 0 = the affinity mask.
/// Integers become I64. |wanted| lists outputs, empty = all but `step_logits`.
Result<std::vector<OwnedTensor>> runGeneration(const Artefact &artefact, const std::vector<TensorView> &inputs, GenerationSettings settings,
                                               const std::vector<std::string> &wanted, int64_t threads);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_GENERATECALL_H
