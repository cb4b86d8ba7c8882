//===- WeightsAside.cpp - A module without its weights --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/WeightsAside.h"
#include "dialect/Xfmr/IR/XfmrOps.h"

using namespace mlir;
using namespace attune;

WeightsAside::WeightsAside(ModuleOp module) : module(module) {
  Operation *previous = nullptr;
  for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
    if (!isa<xfmr::WeightOp>(op)) {
      previous = &op;
      continue;
    }
    // The first weight of a run stays and marks its position. A function could not mark it, since passes replace
    // functions.
    if (previous && isa<xfmr::WeightOp>(previous)) {
      op.remove();
      runs.back().first.push_back(&op);
    } else {
      runs.push_back({{}, &op});
      previous = &op;
    }
  }
}

WeightsAside::~WeightsAside() {
  for (auto &[weights, place] : runs)
    for (Operation *weight : llvm::reverse(weights))
      module.getBody()->getOperations().insertAfter(Block::iterator(place), weight);
}
