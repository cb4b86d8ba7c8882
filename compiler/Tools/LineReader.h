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

  /// Reads a line to |line| without its line break, which the last line may lack. After Failed, errno has the reason.
  /// After Interrupted, the part of a line that was read before the signal is forgotten, as on a terminal.
  Result read(std::string &line);

private:
  std::string buffer;
  size_t searched = 0; // bytes of |buffer| without a line break
  bool ended = false;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_LINEREADER_H
