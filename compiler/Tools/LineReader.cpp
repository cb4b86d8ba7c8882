//===- LineReader.cpp - Lines of standard input ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Tools/LineReader.h"
#include "compiler/Tools/TextLines.h"

#include <cerrno>
#include <unistd.h>

using namespace attune;

LineReader::Result LineReader::read(std::string &line) {
  for (;;) {
    if (size_t end = buffer.find('\n', searched); end != std::string::npos) {
      line = buffer.substr(0, end + 1);
      buffer.erase(0, end + 1);
      searched = 0;
      dropLineBreak(line);
      return Result::Line;
    }
    searched = buffer.size();
    if (buffer.size() > kMostBytes)
      return Result::TooLong;
    if (ended) {
      if (buffer.empty())
        return Result::End;
      line = std::move(buffer);
      buffer.clear();
      searched = 0;
      return Result::Line;
    }
    char bytes[4096];
    ssize_t count = ::read(STDIN_FILENO, bytes, sizeof(bytes));
    if (count > 0) {
      buffer.append(bytes, static_cast<size_t>(count));
    } else if (count == 0) {
      ended = true;
    } else {
      buffer.clear(); // clear() keeps errno
      searched = 0;
      return errno == EINTR ? Result::Interrupted : Result::Failed;
    }
  }
}
