//===- LineReader.h - Lines of standard input -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_LINEREADER_H
#define ATTUNE_COMPILER_TOOLS_LINEREADER_H

#include <string>

namespace attune {

/// A reader of standard input that returns each line as soon as it has arrived. Unlike std::istream, it also returns
/// when a signal interrupts the wait for input.
class LineReader {
public:
  enum class Result { Line, End, Interrupted, Failed, TooLong };
  /// The most bytes of a line; a longer line ends the reading with TooLong.
  static constexpr size_t kMostBytes = size_t(16) << 20;

  /// Reads the next line to |line|, without its line break; the last line of the input may lack one. Returns End if
  /// there is no further line, Interrupted after a signal, TooLong for a line of more than kMostBytes bytes, and Failed
  /// after another error, with the reason in errno. If a signal comes after a part of a line, that part is discarded,
  /// as on a terminal.
  Result read(std::string &line);

private:
  std::string buffer;
  size_t searched = 0; // bytes of |buffer| without a line break
  bool ended = false;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_LINEREADER_H
