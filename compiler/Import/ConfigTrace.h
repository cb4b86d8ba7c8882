//===- ConfigTrace.h - The keys that a reader asks for ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A configuration that carries a trace notes each key that a ConfigReader reads or refuses. References of families and the classes of a
// family are taken from traces, so that a reader's code is the only list of its keys.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_CONFIGTRACE_H
#define ATTUNE_IMPORT_CONFIGTRACE_H

#include <string>
#include <utility>
#include <vector>

namespace attune {

/// A key that a reader understands.
struct TracedKey {
  std::string name;
  /// The value without the key as JSON text; "" if the key is required or has no default of its own.
  std::string fallback;
  /// The values that are accepted, such as "one of a, b"; "" if nothing was noted.
  std::string expected;
};

/// The keys of the readers of one configuration, each once, in the order of their first use.
struct ConfigTrace {
  /// The classes that `architectures` may name, the base model first.
  std::vector<std::string> classes;
  std::vector<TracedKey> keys;
  /// Keys that must be absent or off, with the reason.
  std::vector<std::pair<std::string, std::string>> refused;

  /// Notes a key; a later note completes an earlier one.
  void note(const std::string &name, const std::string &fallback, const std::string &expected);
  void noteRefused(const std::string &name, const std::string &reason);
};

} // namespace attune

#endif // ATTUNE_IMPORT_CONFIGTRACE_H
