//===- ExplainKernel.h - The remarks about a kernel -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_EXPLAINKERNEL_H
#define ATTUNE_COMPILER_TOOLS_EXPLAINKERNEL_H

#include "compiler/Driver/CompileOptions.h"
#include "compiler/Support/Json.h"

namespace attune {

/// Returns the remarks that concern |kernel|, the symbol of a kernel or its description ("linear 768 -> 3072, bias"),
/// as `{"kernel": …, "remarks": […]}`. Reads the remarks from |remarksFile| or, if that is empty, gets them by
/// compiling the model of |options| to the phase `vector`. Fails, with the symbols of all kernels, if no kernel has
/// this symbol or description.
Result<nlohmann::ordered_json> explainKernel(const CompileOptions &options, const std::string &kernel, const std::string &remarksFile);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_EXPLAINKERNEL_H
