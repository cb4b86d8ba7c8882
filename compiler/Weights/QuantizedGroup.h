//===- QuantizedGroup.h - Scale and minimum of a group ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_WEIGHTS_QUANTIZEDGROUP_H
#define ATTUNE_COMPILER_WEIGHTS_QUANTIZEDGROUP_H

namespace attune {

/// The scale and the minimum of one group of columns in one row: the stored values, f16 values if the format stores
/// f16.
struct QuantizedGroup {
  float scale = 0, minimum = 0;
};

} // namespace attune

#endif // ATTUNE_COMPILER_WEIGHTS_QUANTIZEDGROUP_H
