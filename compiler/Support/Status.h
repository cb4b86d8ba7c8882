//===- Status.h - Errors as values ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Status and Result<T>, by which libraries report errors without exceptions and without LLVM. A message is one line in
// lower case that names the file and the subject of the error.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_STATUS_H
#define ATTUNE_COMPILER_SUPPORT_STATUS_H

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace attune {

/// Success, or one error message.
class [[nodiscard]] Status {
public:
  /// Success.
  Status() = default;
  /// Returns an error with this message. Replaces each control character, such as a line break or escape, by a question
  /// mark, since the message may contain names from untrusted files.
  static Status error(std::string message) {
    for (char &c : message)
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
        c = '?';
    Status status;
    status.text = std::move(message);
    return status;
  }

  /// Returns true for an error.
  bool failed() const { return text.has_value(); }
  /// Returns the message of an error, "" for success.
  const std::string &message() const {
    static const std::string none;
    return text ? *text : none;
  }

private:
  std::optional<std::string> text;
};

/// Evaluates |call|, a Status, and returns it from the enclosing function if it is an error.
#define ATTUNE_RETURN_IF_FAILED(call)                                                                                                      \
  if (Status tried = (call); tried.failed())                                                                                               \
  return tried

/// A value, or the error that prevented it. Converts to true if there is a value.
template <typename T>
class [[nodiscard]] Result {
public:
  Result(T value) : stored(std::move(value)) {}
  Result(Status error) : problem(std::move(error)) { assert(problem.failed() && "a Result without a value needs an error"); }

  explicit operator bool() const { return stored.has_value(); }
  bool failed() const { return !stored.has_value(); }
  /// Returns the error of a failed result, success otherwise.
  const Status &status() const { return problem; }
  const std::string &message() const { return problem.message(); }

  T &operator*() { return *stored; }
  const T &operator*() const { return *stored; }
  T *operator->() { return &*stored; }
  const T *operator->() const { return &*stored; }

private:
  std::optional<T> stored;
  Status problem;
};

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_STATUS_H
