//===- Expect.h - Counting failures -----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_WEIGHTS_EXPECT_H
#define ATTUNE_TEST_WEIGHTS_EXPECT_H

#include "mlir/IR/MLIRContext.h"

#include <cstdio>
#include <string>

namespace attune {

inline int failures = 0;
/// Counts a failure unless |condition|; prints |what| for the first ten.
inline void expect(bool condition, const std::string &what) {
  if (!condition && ++failures <= 10)
    std::printf("FAIL: %s\n", what.c_str());
}

/// Compares a few elements of computed tables with their definitions.
void testTables(mlir::MLIRContext &context);
/// Quantizes groups of weights and reads them back.
void testQuantizer(mlir::MLIRContext &context);

} // namespace attune

#endif // ATTUNE_TEST_WEIGHTS_EXPECT_H
