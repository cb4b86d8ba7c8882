//===- ConversionAdvice.h - Ways from other formats of weights ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_CONVERSIONADVICE_H
#define ATTUNE_COMPILER_SUPPORT_CONVERSIONADVICE_H

#include <string>

namespace attune {

/// Looks for weights that |folder| has under other names or in other formats than `model.safetensors` and its index.
/// Returns "found only NAME; COMMAND" with the command that converts them, or "" if there are none. The command is one
/// line for a POSIX shell.
std::string adviseOnWeights(const std::string &folder);

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_CONVERSIONADVICE_H
