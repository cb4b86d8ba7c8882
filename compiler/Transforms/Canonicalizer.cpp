//===- Canonicalizer.cpp - The canonicalizer of the pipelines -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

std::unique_ptr<Pass> attune::createCanonicalizer() {
  return createCanonicalizerPass(GreedyRewriteConfig().setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled));
}
