//===- ExplainKernel.h - The remarks about a kernel -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_EXPLAINKERNEL_H
#define ATTUNE_COMPILER_TOOLS_EXPLAINKERNEL_H

#include "compiler/Driver/CompileOptions.h"
#include "compiler/Support/Json.h"

namespace attune {

/// Returns the remarks that concern |kernel|, its symbol or its text, as `{"kernel": …, "remarks": […]}`. They are read
/// from |remarksFile|; if that is empty, the model of |options| is compiled to the phase `vector`.
Result<nlohmann::ordered_json> explainKernel(const CompileOptions &options, const std::string &kernel, const std::string &remarksFile);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_EXPLAINKERNEL_H
