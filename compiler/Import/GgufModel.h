//===- GgufModel.h - A GGUF file as a model folder --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_GGUFMODEL_H
#define ATTUNE_IMPORT_GGUFMODEL_H

#include "compiler/Import/Config.h"
#include "compiler/Import/TransformerSpec.h"
#include "compiler/Weights/TensorProvider.h"

#include <memory>
#include <optional>

namespace attune {

/// A GGUF file as a model of transformers: a configuration that follows from its metadata, and its tensors under the
/// names and in the layouts of transformers.
struct GgufModel {
  Config config;
  std::unique_ptr<TensorProvider> tensors;
  /// The reduction of the vectors of tokens to one vector of a text, by the key `pooling_type`; empty if there is none.
  std::optional<mlir::xfmr::PoolKind> pooling;
};

/// Opens the file |path|. Fails for an architecture, a key of the architecture or a tensor that is not known, since
/// results would be wrong without it, and for a wrong value; the message names it. Ignores other unknown keys.
Result<GgufModel> openGgufModel(const std::string &path);

} // namespace attune

#endif // ATTUNE_IMPORT_GGUFMODEL_H
