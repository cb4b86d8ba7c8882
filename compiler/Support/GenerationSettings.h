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

/// A set of generation settings and their values. Settings without a value keep the defaults of the model. A later
/// value of a setting replaces an earlier one, and a later `max_length` also removes an earlier `max_new_tokens`.
class GenerationSettings {
public:
  /// Returns every name that `set` accepts, except `unsupported`, which only the module attribute `xfmr.model` may
  /// have, not the files of a user. A caller that reads a file must set the names in this order, since a later
  /// `max_length` removes `max_new_tokens`.
  static const std::vector<std::string> &names();

  /// Sets |name| to |value|; does nothing if |value| is null. Fails if the name is unknown or the setting cannot have
  /// this value. If |name| is a setting of transformers that is not implemented, sets `unsupported` instead: an error
  /// text that names the setting, with which attune_generate fails. If there are several such settings, `unsupported`
  /// has the text of one of them. A later value that switches the setting off, such as null, removes its text. |file| is
  /// the origin of the setting, for errors.
  Status set(const std::string &name, const Json &value, const std::string &file);
  /// Parses and sets `NAME=VALUE`. VALUE is parsed as JSON; a VALUE that is not JSON is taken as a string. |origin|
  /// names the flag in errors.
  Status setText(const std::string &text, const std::string &origin);

  /// Returns the settings that have a value.
  const std::map<std::string, Json> &values() const { return stored; }
  /// Overwrites the members of |options| for which this object has a value. Sets max_new_tokens to 0 if `max_length`
  /// has a value and `max_new_tokens` has none. Sets |options|.unsupported to null if its text is about a setting that
  /// was switched off here. |options| borrows lists and strings from this object, which must not change or be destroyed
  /// while |options| is in use.
  void apply(attune_generation_options &options);

private:
  /// Updates `unsupported` after a change of |refusals|. A text about a setting that is not switched off stays.
  /// Otherwise, one of the texts in |refusals| replaces it; if all of them are "", `unsupported` is removed.
  void keepRefusal();

  std::map<std::string, Json> stored;
  /// The error texts for settings that are not implemented, by the name of the setting; "" for a setting that was
  /// switched off.
  std::map<std::string, std::string> refusals;
  std::map<std::string, std::vector<int64_t>> idLists;
  std::vector<int64_t> badWords, badWordLengths;
  std::vector<std::string> stops;
  std::vector<const char *> stopPointers;
  std::string unsupported;
};

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_GENERATIONSETTINGS_H
