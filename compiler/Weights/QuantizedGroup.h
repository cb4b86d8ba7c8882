//===- QuantizedGroup.h - Scale and minimum of a group ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_WEIGHTS_QUANTIZEDGROUP_H
#define ATTUNE_COMPILER_WEIGHTS_QUANTIZEDGROUP_H

namespace attune {

/// The scale and the minimum of a row in one group as they are stored: values of f16 if the format has those.
struct QuantizedGroup {
  float scale = 0, minimum = 0;
};

} // namespace attune

#endif // ATTUNE_COMPILER_WEIGHTS_QUANTIZEDGROUP_H
