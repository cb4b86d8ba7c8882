//===- LogSoftmax.h - Logarithms of probabilities -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_GENERATION_LOGSOFTMAX_H
#define ATTUNE_RUNTIME_GENERATION_LOGSOFTMAX_H

#include <cstdint>

namespace attune {

/// Returns log(sum(exp(values[i]))) of |count| values, -infinity if all are -infinity; the relative error of the sum is
/// below 1e-6.
double logSumExp(const float *values, int64_t count);
/// Subtracts logSumExp(values) from each of |count| values; changes nothing if all are -infinity.
void logSoftmax(float *values, int64_t count);

} // namespace attune

#endif // ATTUNE_RUNTIME_GENERATION_LOGSOFTMAX_H
