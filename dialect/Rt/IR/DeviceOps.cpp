//===- DeviceOps.cpp - Queries and descriptors of devices -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Rt/IR/RtOps.h"

using namespace mlir;
using namespace mlir::rt;

LogicalResult TensorMapOp::verify() {
  size_t rank = getSizes().size();
  if (rank < 1 || rank > 5 || getBox().size() != rank || getStrides().size() + 1 != rank)
    return emitOpError("(C1) expects 1 to 5 sizes, as many numbers in 'box' and one stride less, got ")
           << rank << ", " << getBox().size() << " and " << getStrides().size();
  for (int64_t size : getBox())
    if (size < 1 || size > 256)
      return emitOpError("(C2) expects 1 to 256 elements in each dimension of 'box', got ") << size;
  if (getElementBytes() != 2 && getElementBytes() != 4)
    return emitOpError("(C3) expects 'element_bytes' to be 2 or 4, got ") << getElementBytes();
  if (getSwizzle() != 0 && (getSwizzle() != 128 || getBox().back() * static_cast<int64_t>(getElementBytes()) > 128))
    return emitOpError("(C3) expects 'swizzle' to be 0, or 128 for a box of at most 128 bytes, got ") << getSwizzle();
  return success();
}
