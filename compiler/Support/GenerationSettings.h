//===- GenerationSettings.h - Generation settings by name -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generation settings under the names of transformers, as generation_config.json, config.json, the golden cases of the
// tests and the command line have them, and their conversion to attune_generation_options.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_GENERATIONSETTINGS_H
#define ATTUNE_COMPILER_SUPPORT_GENERATIONSETTINGS_H

#include "attune/generate.h"
#include "compiler/Support/Json.h"

#include <map>

namespace attune {

/// A set of settings; all others keep the defaults of the model. A later value of a setting replaces an earlier one,
/// and a later `max_length` also removes an earlier `max_new_tokens`.
class GenerationSettings {
public:
  /// Returns every name that `set` accepts, except `unsupported`, which models describe but files of users do not have
  /// (see `set`). A caller that reads a file sets the names in this order, since a later `max_length` would remove
  /// `max_new_tokens`.
  static const std::vector<std::string> &names();

  /// Sets |name| to |value|; does nothing, whatever the name, if |value| is null. An unknown name, and a value that the
  /// setting cannot have, are errors. A setting of transformers that is not implemented sets `unsupported` to an error
  /// text that names it, with which attune_generate fails; if there are several such settings, the text is that of one
  /// of them. A later |value| that switches the setting off removes its text. |file| is the origin of the setting, for
  /// errors.
  Status set(const std::string &name, const Json &value, const std::string &file);
  /// Parses and sets `NAME=VALUE`. VALUE is parsed as JSON; what is not JSON is a string. |origin| names the flag in
  /// errors.
  Status setText(const std::string &text, const std::string &origin);

  /// Returns the settings that have a value.
  const std::map<std::string, Json> &values() const { return stored; }
  /// Overwrites |options| with the settings that have a value; sets max_new_tokens to 0 if only `max_length` has a
  /// value. Sets |options|.unsupported to null if its text is about a setting that was switched off here. |options|
  /// borrows lists and strings from this object, which must not change or be destroyed meanwhile.
  void apply(attune_generation_options &options);

private:
  /// Sets `unsupported` to one of the texts in |refusals|, unless its text is about a setting that is not switched off;
  /// removes it if |refusals| has no text.
  void keepRefusal();

  std::map<std::string, Json> stored;
  /// The texts of settings that are not implemented, by name; "" for a setting that was switched off.
  std::map<std::string, std::string> refusals;
  std::map<std::string, std::vector<int64_t>> idLists;
  std::vector<int64_t> badWords, badWordLengths;
  std::vector<std::string> stops;
  std::vector<const char *> stopPointers;
  std::string unsupported;
};

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_GENERATIONSETTINGS_H
