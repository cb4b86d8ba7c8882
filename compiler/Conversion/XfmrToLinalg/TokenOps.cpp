//===- TokenOps.cpp - Token operations as linalg --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/XfmrToLinalg.h"

using namespace mlir;

void attune::populateTokenOpPatterns(RewritePatternSet &patterns) {}
