//===- TextOutput.h - Generated text on standard output -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_TEXTOUTPUT_H
#define ATTUNE_COMPILER_TOOLS_TEXTOUTPUT_H

#include <string>
#include <string_view>

namespace attune {

/// A writer of text to standard output, which flushes after each text. A terminal gets U+FFFD for control characters
/// other than tabs and line breaks, because text of a model may contain escape sequences; files and pipes get the bytes
/// as they are.
class TextOutput {
public:
  TextOutput();
  bool isTerminal() const { return terminal; }
  /// Writes |text|, which consists of whole UTF-8 characters. Returns false if |text| cannot be written, as when a pipe
  /// is closed.
  bool write(std::string_view text);

private:
  bool terminal;
};

/// Returns |text| with U+FFFD for each control character but tabs and line breaks.
std::string replaceControls(std::string_view text);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_TEXTOUTPUT_H
