//===- ConfigTrace.h - The keys that a reader asks for ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A configuration with a trace records the keys that a ConfigReader reads or refuses, except lists of numbers
// (ConfigReader::numbers). It records the accepted values of `architectures` as classes, not as a key. The pages that
// `attune families` prints, and the lists of classes, are made from traces, so that the code of a reader is the only
// list of its keys.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_CONFIGTRACE_H
#define ATTUNE_IMPORT_CONFIGTRACE_H

#include <string>
#include <utility>
#include <vector>

namespace attune {

/// A key that a reader reads.
struct TracedKey {
  std::string name;
  /// The default value as JSON text; "" if the reader gave none, as for a required key or a key that may be null.
  std::string fallback;
  /// The accepted values, such as "one of a, b"; "" if the reader does not say.
  std::string expected;
};

/// The keys that the readers of one configuration read, each once, in the order of their first use.
struct ConfigTrace {
  /// The classes that `architectures` may name: first the default, in most families the base model.
  std::vector<std::string> classes;
  std::vector<TracedKey> keys;
  /// Keys that must be absent or off, with the reason.
  std::vector<std::pair<std::string, std::string>> refused;

  /// Adds a key. A later call for the same key fills in missing parts; an |expected| that begins with "one of" replaces
  /// the accepted values.
  void note(const std::string &name, const std::string &fallback, const std::string &expected);
  void noteRefused(const std::string &name, const std::string &reason);
};

} // namespace attune

#endif // ATTUNE_IMPORT_CONFIGTRACE_H
