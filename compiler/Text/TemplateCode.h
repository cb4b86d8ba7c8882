//===- TemplateCode.h - Code of chat templates ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_TEMPLATECODE_H
#define ATTUNE_COMPILER_TEXT_TEMPLATECODE_H

#include "compiler/Support/Status.h"
#include "compiler/Text/ChatProgram.h"
#include "compiler/Text/TemplateNodes.h"

namespace attune {

/// Adds the functions of a template to |program| and returns the number of its body. Filters, tests and methods that
/// are not supported are errors that name them and their line; a filter or test that Jinja2 does not know either is
/// none inside an `if`.
Result<uint32_t> emitTemplate(const NodeList &body, ChatProgram &program);

} // namespace attune

#endif // ATTUNE_COMPILER_TEXT_TEMPLATECODE_H
