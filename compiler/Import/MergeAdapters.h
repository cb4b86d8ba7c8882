//===- MergeAdapters.h - LoRA adapters in a model's tensors -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_MERGEADAPTERS_H
#define ATTUNE_IMPORT_MERGEADAPTERS_H

#include "compiler/Import/LoraAdapter.h"
#include "compiler/Import/TransformerSpec.h"
#include "compiler/Weights/TensorProvider.h"

namespace attune {

/// An adapter that a user asks for: its folder, and a factor of what it adds.
struct AdapterRequest {
  std::string folder;
  double scale = 1;
};

/// Reads "DIR" or "DIR:SCALE". A folder of the whole name counts before a scale.
AdapterRequest parseAdapter(const std::string &text);

/// Returns |tensors|, those of a model |spec|, with |adapters| added up in their order: W + scale * B * A for each. Whole tensors of an
/// adapter take the place of the model's. Fails if a tensor of an adapter is not one of the model, has another shape, stands for several
/// modules that share it, or is replaced twice.
Result<std::unique_ptr<TensorProvider>> mergeAdapters(const TransformerSpec &spec, std::unique_ptr<TensorProvider> tensors,
                                                      const std::vector<AdapterRequest> &adapters);

} // namespace attune

#endif // ATTUNE_IMPORT_MERGEADAPTERS_H
