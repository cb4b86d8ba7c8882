//===- TextOutput.h - Generated text on standard output -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_TEXTOUTPUT_H
#define ATTUNE_COMPILER_TOOLS_TEXTOUTPUT_H

#include <string>
#include <string_view>

namespace attune {

/// Writes text to standard output at once. A terminal gets no control characters but tabs and line breaks, because text
/// of a model may hold escape sequences; files and pipes get the bytes as they are.
class TextOutput {
public:
  TextOutput();
  bool isTerminal() const { return terminal; }
  /// Writes |text|, which is complete UTF-8. Returns false if it cannot be written, as when a pipe is closed.
  bool write(std::string_view text);

private:
  bool terminal;
};

/// Returns |text| with U+FFFD for each control character but tabs and line breaks.
std::string replaceControls(std::string_view text);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_TEXTOUTPUT_H
