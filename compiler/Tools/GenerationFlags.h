//===- GenerationFlags.h - Flags for the settings of a generation ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_GENERATIONFLAGS_H
#define ATTUNE_COMPILER_TOOLS_GENERATIONFLAGS_H

#include "compiler/Support/GenerationSettings.h"
#include "compiler/Tools/Commands.h"

namespace attune {

/// The settings of a generation that a command line sets. Their defaults come from the model's files.
class GenerationFlags {
public:
  /// The groups of flags in help; the group of further settings is folded.
  enum class Group { Common, Further };

  /// Adds the flags to |flags|, which must not outlive this object.
  void addTo(FlagTable &flags);
  /// Reads --set and --stop, after all flags are parsed. Fails if a value is wrong, if --set gives a setting that
  /// another flag gives, or if both max_length and max_new_tokens are given.
  Status finish();

  GenerationSettings &settings() { return values; }
  bool hasStops() const { return !stops.empty(); }
  /// Warns of flags that the chosen search does not read, such as --temperature without --sample, and of a
  /// min_new_tokens above max_new_tokens. Without a warning, an ignored temperature looks like a model that never
  /// varies.
  void warnOfUnread(const CommandHost &host, const Artifact &artifact);
  /// Returns the model's own settings, overridden by those of the flags. The result borrows lists and strings from this
  /// object and from |artifact|.
  attune_generation_options optionsFor(const Artifact &artifact);
  /// Returns true if a flag or a file of the model limits the length of a result. |options| are those that optionsFor
  /// returns.
  bool limitsLength(const attune_generation_options &options) const;

private:
  void addGroup(FlagTable &flags, Group group);

  GenerationSettings values;
  /// The values of --set and of --stop.
  std::vector<std::string> texts, stops;
  /// The settings that flags have set: the name of the setting, such as top_k, and the flag as it is written, such as
  /// --top-k.
  std::vector<std::pair<std::string, std::string>> setByFlags;
  bool lengthGiven = false, newTokensGiven = false;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_GENERATIONFLAGS_H
