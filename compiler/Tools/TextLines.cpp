//===- TextLines.cpp - Texts of files and their lines ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Tools/TextLines.h"
#include "compiler/Support/InputFiles.h"
#include "compiler/Support/MappedFile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>

using namespace attune;

/// Returns all of standard input. Does not use a std::istream, which would not distinguish an error from an empty
/// input.
static Result<std::string> readStandardInput() {
  std::string text;
  char bytes[1 << 16];
  for (;;) {
    ssize_t count = ::read(STDIN_FILENO, bytes, sizeof(bytes));
    if (count > 0)
      text.append(bytes, static_cast<size_t>(count));
    else if (count == 0)
      return text;
    else if (errno != EINTR)
      return Status::error(std::string("cannot read standard input: ") + std::strerror(errno));
  }
}

Result<std::string> attune::readText(const std::string &path) {
  if (path == "-")
    return readStandardInput();
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
