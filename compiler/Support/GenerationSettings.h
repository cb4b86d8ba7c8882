//===- GenerationSettings.h - Generation settings by name -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The settings of generation under the names of the reference library, as generation_config.json, config.json, a golden case and the
// command line give them, and the way from there to attune_generation_options.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_GENERATIONSETTINGS_H
#define ATTUNE_COMPILER_SUPPORT_GENERATIONSETTINGS_H

#include "attune/generate.h"
#include "compiler/Support/Json.h"

#include <map>

namespace attune {

/// Some settings; the others keep the defaults of the model. Later values replace earlier ones.
class GenerationSettings {
public:
  /// Every name that `set` knows, in the order in which a file's settings are to be read.
  static const std::vector<std::string> &names();

  /// Sets |name| to |value|, or does nothing if that is null. |file| is where it comes from, for errors, also for that of an unknown name.
  /// A setting that this version does not have is kept as the value of `unsupported`, unless |value| leaves it unused.
  Status set(const std::string &name, const Json &value, const std::string &file);
  /// Sets `NAME=VALUE`, where VALUE is JSON or else a string; |origin| names the flag in errors.
  Status setText(const std::string &text, const std::string &origin);

  /// The settings that have a value.
  const std::map<std::string, Json> &values() const { return stored; }
  /// Writes what has been set over |options|, which borrows lists and text from this.
  void apply(attune_generation_options &options);

private:
  std::map<std::string, Json> stored;
  std::map<std::string, std::vector<int64_t>> idLists;
  std::vector<int64_t> badWords, badWordLengths;
  std::string unsupported;
};

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_GENERATIONSETTINGS_H
