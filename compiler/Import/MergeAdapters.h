//===- MergeAdapters.h - LoRA adapters in a model's tensors -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_MERGEADAPTERS_H
#define ATTUNE_IMPORT_MERGEADAPTERS_H

#include "compiler/Import/LoraAdapter.h"
#include "compiler/Import/TransformerSpec.h"
#include "compiler/Weights/TensorProvider.h"

namespace attune {

/// A requested adapter: its folder and the factor of its changes.
struct AdapterRequest {
  std::string folder;
  double scale = 1;
};

/// Parses "DIR" or "DIR:SCALE". |text| is DIR alone if a file or folder of this name exists, or if no number follows
/// its last colon.
AdapterRequest parseAdapter(const std::string &text);

/// Returns |tensors|, the tensors of the model |spec|, with the changes of |adapters| added in their order: a tensor W
/// becomes W + scale * B * A. Tensors that an adapter stores whole replace those of the model before anything is added.
/// Fails
///   - if an adapter cannot be opened;
///   - if a tensor of an adapter is for a tensor that the model or its files lack, or does not fit its shape;
///   - if a tensor of an adapter adds to a tensor that several modules share, or replaces such a tensor for only some
///     of these modules;
///   - if two tensors replace the same tensor, unless they are equal and of the same adapter.
Result<std::unique_ptr<TensorProvider>> mergeAdapters(const TransformerSpec &spec, std::unique_ptr<TensorProvider> tensors,
                                                      const std::vector<AdapterRequest> &adapters);

} // namespace attune

#endif // ATTUNE_IMPORT_MERGEADAPTERS_H
