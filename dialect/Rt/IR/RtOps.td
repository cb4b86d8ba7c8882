//===- RtOps.td - All operations of the rt dialect ---------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

include "dialect/Rt/IR/DeviceOps.td"
include "dialect/Rt/IR/ParallelOps.td"
include "dialect/Rt/IR/RankOps.td"
include "dialect/Rt/IR/RtAttrs.td"
