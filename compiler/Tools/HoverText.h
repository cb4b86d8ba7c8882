//===- HoverText.h - Facts about an operation under the cursor --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_HOVERTEXT_H
#define ATTUNE_COMPILER_TOOLS_HOVERTEXT_H

#include "mlir/IR/MLIRContext.h"

#include <string>

namespace attune {

/// Returns Markdown about the operation at |line| and |column|, both counted from 0, of |text|, which is IR of any
/// phase. The Markdown has the types of the operation's results, the module of the model that the operation belongs to
/// (such as encoder.layer.0), the kernel that its function implements and, for an operation of Attune's dialects, its
/// description. Returns "" if there is no operation at this position or |text| cannot be parsed.
std::string describeHover(const mlir::DialectRegistry &registry, const std::string &text, unsigned line, unsigned column);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_HOVERTEXT_H
