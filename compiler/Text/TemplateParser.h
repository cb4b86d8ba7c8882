//===- TemplateParser.h - Parser of chat templates ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_TEMPLATEPARSER_H
#define ATTUNE_COMPILER_TEXT_TEMPLATEPARSER_H

#include "compiler/Support/Status.h"
#include "compiler/Text/TemplateNodes.h"

#include <string_view>

namespace attune {

/// Parses a template into its statements. Fails for a template of more than 4 MiB, for errors of syntax, and for
/// statements and expressions that are not supported, which the error names with their line.
Result<NodeList> parseTemplate(std::string_view source);

} // namespace attune

#endif // ATTUNE_COMPILER_TEXT_TEMPLATEPARSER_H
