//===- TextLines.h - Texts of files and their lines -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_TEXTLINES_H
#define ATTUNE_COMPILER_TOOLS_TEXTLINES_H

#include "compiler/Support/Status.h"

#include <string>
#include <vector>

namespace attune {

/// Returns the content of the file |path|, or of standard input for "-".
Result<std::string> readText(const std::string &path);
/// Removes the line break at the end of |text|, "\n" or "\r\n", if there is one.
void dropLineBreak(std::string &text);
/// Returns the lines of |text| without their line breaks, "\n" or "\r\n". The last line may lack one.
std::vector<std::string> splitLines(const std::string &text);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_TEXTLINES_H
