//===- GenerationAttr.h - Generation settings of a module -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The generation settings of a model are the parameter `generation` of the module's attribute `xfmr.model`.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_OBJECT_GENERATIONATTR_H
#define ATTUNE_COMPILER_OBJECT_GENERATIONATTR_H

#include "compiler/Support/GenerationSettings.h"
#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace attune {

/// Replaces the generation settings in the `xfmr.model` of |module|, which must have that attribute, by |settings|.
void writeGenerationAttr(mlir::ModuleOp module, const GenerationSettings &settings);
/// Returns the generation settings of |module|, or nullopt if it has none. Fails if a setting has an unknown name or a
/// wrong value, since the module may come from a file; the error names the setting.
Result<std::optional<GenerationSettings>> readGenerationAttr(mlir::ModuleOp module);

} // namespace attune

#endif // ATTUNE_COMPILER_OBJECT_GENERATIONATTR_H
