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
/// Returns the settings of |module|, or nullopt if it has none. Errors name the setting, since the module may come from
/// a file.
Result<std::optional<GenerationSettings>> readGenerationAttr(mlir::ModuleOp module);

} // namespace attune

#endif // ATTUNE_COMPILER_OBJECT_GENERATIONATTR_H
