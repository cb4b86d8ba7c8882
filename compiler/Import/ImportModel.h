//===- ImportModel.h - A model folder as a module of the xfmr dialect -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Builds the module of the phase `import`. The module has one `xfmr.weight` for each tensor, or expression over
// tensors, that an operation reads, one private function for each distinct layer signature, and the entries, which call
// these functions once for each layer. A model of one attention without norms and residuals (NormPlacement::None) has
// no layer function: its entries contain the operation. The options of the import decide which entries there are, and
// their inputs and outputs.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_IMPORTMODEL_H
#define ATTUNE_IMPORT_IMPORTMODEL_H

#include "compiler/Import/ImportOptions.h"
#include "compiler/Import/TransformerSpec.h"
#include "compiler/Weights/TensorProvider.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace attune {

/// Builds the module of the model |spec| with the weights |tensors|. Checks that every tensor that an entry uses
/// exists, with a float type and the right shape. Reads no elements, except stored frequencies of rotary embeddings.
/// Fails if such a tensor is missing or wrong, or if |options| requests an input, output, limit or entry that the model
/// cannot have. On failure no IR is left in |context|.
Result<mlir::OwningOpRef<mlir::ModuleOp>> importModel(mlir::MLIRContext &context, const TransformerSpec &spec,
                                                      const TensorProvider &tensors, const ImportOptions &options = {});

} // namespace attune

#endif // ATTUNE_IMPORT_IMPORTMODEL_H
