//===- LineReader.h - Lines of standard input -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_LINEREADER_H
#define ATTUNE_COMPILER_TOOLS_LINEREADER_H

#include <string>

namespace attune {

/// Reads lines of standard input as they come. Unlike a stream of the C++ library, it returns when a signal comes.
class LineReader {
public:
  enum class Result { Line, End, Interrupted, Failed, TooLong };
  /// The most bytes of a line.
  static constexpr size_t kMostBytes = size_t(16) << 20;

  /// Reads a line to |line|, without its line break. After Failed, errno says why. A last line need not end with one. After a signal the
  /// part of a line that was read is forgotten, as on a terminal.
  Result read(std::string &line);

private:
  std::string buffer;
  size_t searched = 0; // bytes of |buffer| without a line break
  bool ended = false;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_LINEREADER_H
