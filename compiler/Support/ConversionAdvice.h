//===- ConversionAdvice.h - Ways from other formats of weights ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_CONVERSIONADVICE_H
#define ATTUNE_COMPILER_SUPPORT_CONVERSIONADVICE_H

#include <string>

namespace attune {

/// Looks for weights that |folder| has under other names or in other formats than `model.safetensors` and its index.
/// Returns "found only NAME", a file of the first known kind that it finds, and advice: mostly a command that converts
/// the weights to `model.safetensors`, on one line for a POSIX shell. Returns "" if it finds none.
std::string adviseOnWeights(const std::string &folder);

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_CONVERSIONADVICE_H
