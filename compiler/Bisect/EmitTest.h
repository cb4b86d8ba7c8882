//===- EmitTest.h - A lit test that shows an error --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_BISECT_EMITTEST_H
#define ATTUNE_COMPILER_BISECT_EMITTEST_H

#include "compiler/Bisect/Bisection.h"

namespace attune {

/// Writes FOLDER/NAME.mlir, a lit test that fails as long as the pass of |verdict| is wrong, and its inputs to
/// FOLDER/Inputs. The module becomes smaller for at most |seconds|, as long as the pass changes its results.
/// Returns the path of the test.
Result<std::string> emitTest(Verdict &verdict, const PassHook &hook, const std::string &folder, const std::string &name, int64_t seconds);

} // namespace attune

#endif // ATTUNE_COMPILER_BISECT_EMITTEST_H
