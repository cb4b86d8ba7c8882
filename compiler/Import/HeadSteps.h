//===- HeadSteps.h - From a hidden state to an output -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_HEADSTEPS_H
#define ATTUNE_IMPORT_HEADSTEPS_H

#include "compiler/Import/TokenBatch.h"

namespace attune {

/// A value to be returned, and its dims: names, and numbers for static sizes.
struct EntryResult {
  mlir::Value value;
  std::vector<std::string> dims;
};

/// Emits |output| from |hidden| `[T, H]`, the result of the stack of |tokens|. With |lastOnly|, |hidden| is `[B, H]`,
/// one row for the last token of each sequence. If the model has choices, the dims of the result begin with the batch
/// and the choices.
EntryResult emitHead(EntryScope &scope, const OutputSpec &output, TokenBatch &tokens, mlir::Value hidden, bool lastOnly = false);
/// Returns true if |output| has one row for each token.
bool isPerToken(const OutputSpec &output);

} // namespace attune

#endif // ATTUNE_IMPORT_HEADSTEPS_H
