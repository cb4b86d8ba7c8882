//===- InputForms.h - The shapes and types that inputs may have -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_IMPORT_INPUTFORMS_H
#define ATTUNE_COMPILER_IMPORT_INPUTFORMS_H

#include "compiler/Import/TransformerSpec.h"

namespace attune {

/// One form an input may take: its sizes are numbers or names of dimensions.
struct InputForm {
  DType dtype;
  std::vector<std::string> dims;
};

/// The forms of |input|, the default one first; |afterPast| where earlier tokens' keys are given.
std::vector<InputForm> formsOf(const TransformerSpec &spec, const InputSpec &input, bool afterPast);

} // namespace attune

#endif // ATTUNE_COMPILER_IMPORT_INPUTFORMS_H
