//===- LlvmVersion.h - --version of tools with LLVM's flags -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_LLVMVERSION_H
#define ATTUNE_COMPILER_TOOLS_LLVMVERSION_H

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

namespace attune {

/// Makes --version of |tool|, whose command line LLVM parses, print the same line as `attune --version`, but with the
/// name |tool|.
inline void setVersionPrinter(const char *tool) {
  llvm::cl::SetVersionPrinter(
      [tool](llvm::raw_ostream &stream) { stream << tool << " " ATTUNE_VERSION ", LLVM " LLVM_VERSION_STRING "\n"; });
}

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_LLVMVERSION_H
