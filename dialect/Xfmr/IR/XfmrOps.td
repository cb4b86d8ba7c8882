//===- XfmrOps.td - All operations of the xfmr dialect -----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

include "dialect/Xfmr/IR/ActivationOps.td"
include "dialect/Xfmr/IR/AttentionOps.td"
include "dialect/Xfmr/IR/CacheOps.td"
include "dialect/Xfmr/IR/EmbeddingOps.td"
include "dialect/Xfmr/IR/EntryAttrs.td"
include "dialect/Xfmr/IR/ExpertOps.td"
include "dialect/Xfmr/IR/FfnOps.td"
include "dialect/Xfmr/IR/LinearOps.td"
include "dialect/Xfmr/IR/MaskOps.td"
include "dialect/Xfmr/IR/NormOps.td"
include "dialect/Xfmr/IR/PackingOps.td"
include "dialect/Xfmr/IR/PoolOps.td"
include "dialect/Xfmr/IR/PositionOps.td"
include "dialect/Xfmr/IR/RankOps.td"
include "dialect/Xfmr/IR/WeightOps.td"
