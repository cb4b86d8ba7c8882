//===- GenerationAttr.h - Generation settings of a module -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The module attribute `xfmr.generation` = {max_length = 512, …}: the settings a model has of its own, under the reference library's names.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_OBJECT_GENERATIONATTR_H
#define ATTUNE_COMPILER_OBJECT_GENERATIONATTR_H

#include "compiler/Support/GenerationSettings.h"
#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace attune {

inline constexpr llvm::StringLiteral kGenerationAttr = "xfmr.generation";

void writeGenerationAttr(mlir::ModuleOp module, const GenerationSettings &settings);
/// The settings of |module|, nothing if it has none. Errors name the setting, as the module may come from a file.
Result<std::optional<GenerationSettings>> readGenerationAttr(mlir::ModuleOp module);

} // namespace attune

#endif // ATTUNE_COMPILER_OBJECT_GENERATIONATTR_H
