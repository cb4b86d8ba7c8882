//===- ImportModel.h - A model folder as a module of the xfmr dialect -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The phase `import`. The module has one `xfmr.weight` per parameter that is used, one private function per distinct layer signature, and
// the entries, which call it once per layer. Inputs and outputs are fixed here.
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

/// Builds the module of a model whose weights |tensors| has. Every parameter used is looked up and checked; no element is read. A failure
/// leaves nothing behind.
Result<mlir::OwningOpRef<mlir::ModuleOp>> importModel(mlir::MLIRContext &context, const TransformerSpec &spec,
                                                      const TensorProvider &tensors, const ImportOptions &options = {});

} // namespace attune

#endif // ATTUNE_IMPORT_IMPORTMODEL_H
