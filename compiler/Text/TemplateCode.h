//===- TemplateCode.h - Code of chat templates ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_TEMPLATECODE_H
#define ATTUNE_COMPILER_TEXT_TEMPLATECODE_H

#include "compiler/Support/Status.h"
#include "compiler/Text/ChatProgram.h"
#include "compiler/Text/TemplateNodes.h"

namespace attune {

/// Compiles the statements |body| of a template to functions of |program|, and returns the index of the function of the
/// whole template. Fails for errors of the template, and for a filter, test or method that is not supported; the
/// message then names it and its line. A filter or test that Jinja2 does not know either is accepted inside an `if`
/// statement or an inline `if`: as in Jinja2, a rendering fails only if it calls the filter or test. After a failure
/// |program| has incomplete functions and must be discarded.
Result<uint32_t> emitTemplate(const NodeList &body, ChatProgram &program);

} // namespace attune

#endif // ATTUNE_COMPILER_TEXT_TEMPLATECODE_H
