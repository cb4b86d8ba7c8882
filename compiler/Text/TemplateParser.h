//===- TemplateParser.h - Parser of chat templates ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_TEMPLATEPARSER_H
#define ATTUNE_COMPILER_TEXT_TEMPLATEPARSER_H

#include "compiler/Support/Status.h"
#include "compiler/Text/TemplateNodes.h"

#include <string_view>

namespace attune {

/// Parses a template of at most 4 MiB into its statements. Statements and expressions that are not supported are errors
/// that name them and their line.
Result<NodeList> parseTemplate(std::string_view source);

} // namespace attune

#endif // ATTUNE_COMPILER_TEXT_TEMPLATEPARSER_H
