//===- HoverText.h - Facts about an operation under the cursor --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_HOVERTEXT_H
#define ATTUNE_COMPILER_TOOLS_HOVERTEXT_H

#include "mlir/IR/MLIRContext.h"

#include <string>

namespace attune {

/// Returns Markdown about the operation at |line| and |column|, both counted from 0, of |text|, IR of any phase: the
/// types of its results, the module of the model that it belongs to (such as encoder.layer.0), its kernel, and the
/// description of an operation of Attune's dialects. Returns "" if there is no operation or |text| cannot be parsed.
std::string describeHover(const mlir::DialectRegistry &registry, const std::string &text, unsigned line, unsigned column);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_HOVERTEXT_H
