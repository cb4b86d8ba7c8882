//===- HeadSteps.h - From a hidden state to an output -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_HEADSTEPS_H
#define ATTUNE_IMPORT_HEADSTEPS_H

#include "compiler/Import/TokenBatch.h"

namespace attune {

/// A value on its way out, and its dims.
struct EntryResult {
  mlir::Value value;
  std::vector<std::string> dims;
};

/// Emits |output|, computed from the result |hidden| `[T, H]` of the stack that |tokens| went through, or from one row of it for each
/// sequence, `[B, H]`, if |lastOnly|.
EntryResult emitHead(EntryScope &scope, const OutputSpec &output, TokenBatch &tokens, mlir::Value hidden, bool lastOnly = false);
/// Whether |output| has one row for each token.
bool isPerToken(const OutputSpec &output);

} // namespace attune

#endif // ATTUNE_IMPORT_HEADSTEPS_H
