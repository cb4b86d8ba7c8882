//===- TextLines.cpp - Texts of files and their lines ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Tools/TextLines.h"
#include "compiler/Support/InputFiles.h"
#include "compiler/Support/MappedFile.h"

#include <algorithm>
#include <iostream>
#include <iterator>

using namespace attune;

Result<std::string> attune::readText(const std::string &path) {
  if (path == "-")
    return std::string(std::istreambuf_iterator<char>(std::cin), {});
  if (Status status = declareInput(path); status.failed())
    return status;
  Result<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.status();
  return std::string(reinterpret_cast<const char *>(file->data()), file->size());
}

void attune::dropLineBreak(std::string &text) {
  if (text.empty() || text.back() != '\n')
    return;
  text.pop_back();
  if (!text.empty() && text.back() == '\r')
    text.pop_back();
}

std::vector<std::string> attune::splitLines(const std::string &text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    lines.push_back(text.substr(begin, end - begin));
    dropLineBreak(lines.back());
    begin = end;
  }
  return lines;
}
