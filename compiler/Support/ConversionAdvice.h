//===- ConversionAdvice.h - Ways from other formats of weights ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_CONVERSIONADVICE_H
#define ATTUNE_COMPILER_SUPPORT_CONVERSIONADVICE_H

#include <string>

namespace attune {

/// Looks for weights that |folder| has under other names or in other formats than `model.safetensors` and its index.
/// Returns "found only NAME", followed by advice on the file NAME, or "" if there are no such weights. The advice is
/// mostly a command, on one line for a POSIX shell, that converts the weights to `model.safetensors`. If there are
/// weights of several kinds, NAME is of the kind that comes first in the table of ConversionAdvice.cpp.
std::string adviseOnWeights(const std::string &folder);

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_CONVERSIONADVICE_H
