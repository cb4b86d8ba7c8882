//===- TextOutput.cpp - Generated text on standard output -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Tools/TextOutput.h"

#include <cstdio>
#include <unistd.h>

using namespace attune;

TextOutput::TextOutput() : terminal(isatty(STDOUT_FILENO)) {}

std::string attune::replaceControls(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    auto byte = static_cast<unsigned char>(text[i]);
    bool isC0 = (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f;
    // U+0080 to U+009F.
    bool isC1 = byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (isC0 || isC1)
      result += "\xef\xbf\xbd";
    else
      result += text[i];
    i += isC1;
  }
  return result;
}

bool TextOutput::write(std::string_view text) {
  std::string shown;
  if (terminal)
    text = shown = replaceControls(text);
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
}
