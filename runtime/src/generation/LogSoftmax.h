//===- LogSoftmax.h - Logarithms of probabilities -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_GENERATION_LOGSOFTMAX_H
#define ATTUNE_RUNTIME_GENERATION_LOGSOFTMAX_H

#include <cstdint>

namespace attune {

/// log(sum(exp(values[i]))) over |count| values, of which some may be -infinity; relative error of the sum below 1e-6. -infinity if all
/// are.
double logSumExp(const float *values, int64_t count);
/// values[i] - logSumExp(values), in place; nothing changes if all are -infinity.
void logSoftmax(float *values, int64_t count);

} // namespace attune

#endif // ATTUNE_RUNTIME_GENERATION_LOGSOFTMAX_H
