//===- InputForms.h - The shapes and types that inputs may have -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_IMPORT_INPUTFORMS_H
#define ATTUNE_COMPILER_IMPORT_INPUTFORMS_H

#include "compiler/Import/TransformerSpec.h"

namespace attune {

/// A type and a shape that an input may have. Sizes are numbers or names of dims.
struct InputForm {
  DType dtype;
  std::vector<std::string> dims;
};

/// Returns the forms of |input|, the default first. |afterPast| is true if the keys of earlier tokens are inputs.
std::vector<InputForm> formsOf(const TransformerSpec &spec, const InputSpec &input, bool afterPast);

} // namespace attune

#endif // ATTUNE_COMPILER_IMPORT_INPUTFORMS_H
