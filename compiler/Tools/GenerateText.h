//===- GenerateText.h - Generation from texts -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_GENERATETEXT_H
#define ATTUNE_COMPILER_TOOLS_GENERATETEXT_H

#include "compiler/Tools/GenerationFlags.h"

namespace attune {

/// The texts that a command line names, and the form of the results.
struct TextPrompts {
  std::vector<std::string> prompts;
  std::string file;
  bool readsInput = false; ///< true after the word "-": the text is on standard input
  bool json = false, verbose = false;
  std::string sourceLanguage, targetLanguage;

  void addTo(FlagTable &flags);
  /// Returns true if the command line names no text.
  bool empty() const { return prompts.empty() && file.empty() && !readsInput; }
};

/// Generates from |prompts| and prints the resulting texts. A result is printed while it is generated if its text is
/// alone in the batch and has no other results, without beams and --json. A decoder continues a file as a whole; for an
/// encoder-decoder each line of a file is a source, and each result for a source is a line of output.
Status generateFromPrompts(const CommandHost &host, const Artifact &artifact, const TextPrompts &prompts, GenerationFlags &generation,
                           int64_t threads);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_GENERATETEXT_H
