//===- XfmrOps.td - All operations of the xfmr dialect -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef XFMR_OPS_TD
#define XFMR_OPS_TD

include "dialect/IR/WeightOps.td"
include "dialect/IR/TokenOps.td"
include "dialect/IR/LinearOps.td"
include "dialect/IR/AttentionOps.td"
include "dialect/IR/CacheOps.td"
include "dialect/IR/PositionOps.td"
include "dialect/IR/KernelOps.td"
include "dialect/IR/QuantizeOps.td"
include "dialect/IR/RuntimeOps.td"

#endif // XFMR_OPS_TD
