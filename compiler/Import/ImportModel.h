//===- ImportModel.h - A model folder as a module of the xfmr dialect -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The phase `import`. The module has one `xfmr.weight` for each tensor, or expression over tensors, that an operation
// reads, one private function for each distinct layer signature, and the entries, which call these functions once for
// each layer. A stack of a single operation has no layer function: its entries contain the operation. Inputs and
// outputs of the entries are fixed here.
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

/// Builds the module of the model |spec| with the weights |tensors|. Looks up and checks every parameter that is used,
/// but reads no element, except for stored frequencies of rotary embeddings. Fails if a parameter is missing or wrong,
/// or if |options| requests an input, output, limit or entry that the model cannot have. On failure no IR is left in
/// |context|.
Result<mlir::OwningOpRef<mlir::ModuleOp>> importModel(mlir::MLIRContext &context, const TransformerSpec &spec,
                                                      const TensorProvider &tensors, const ImportOptions &options = {});

} // namespace attune

#endif // ATTUNE_IMPORT_IMPORTMODEL_H
