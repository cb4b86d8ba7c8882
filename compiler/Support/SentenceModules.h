//===- SentenceModules.h - The modules of a sentence-transformers folder --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads modules.json, the list of the modules that one after the other compute the vector of a text:
//
//     modules.json          [{"path": "", "type": "….Transformer"}, {"path": "1_Pooling", "type": "….Pooling"}, …]
//     config.json, …        the first module, the transformer; older folders have it in 0_Transformer
//     1_Pooling/config.json the settings of another module; its tensors are beside them
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_SENTENCEMODULES_H
#define ATTUNE_COMPILER_SUPPORT_SENTENCEMODULES_H

#include "compiler/Support/Json.h"

#include <string>
#include <vector>

namespace attune {

/// A module of a folder.
struct SentenceModule {
  /// The last part of its class: "Transformer", "Pooling", "Dense", "Normalize".
  std::string type;
  /// Its folder, relative to that of the model; "" for the same folder.
  std::string path;
};

/// The names of the files that list modules and prompts.
inline constexpr const char *sentenceModulesFile = "modules.json", *sentenceConfigFile = "config_sentence_transformers.json";
/// The names that the file with the settings of the transformer module may have; the first that exists in the
/// transformer's folder is read.
inline constexpr const char *transformerSettingsFiles[] = {
    "sentence_bert_config.json",   "sentence_roberta_config.json",     "sentence_distilbert_config.json", "sentence_camembert_config.json",
    "sentence_albert_config.json", "sentence_xlm-roberta_config.json", "sentence_xlnet_config.json"};

/// Returns the modules of |folder| in their order, the transformer first; an empty list if it has no modules.json, and
/// the transformer alone for a cross-encoder. Fails if a path leads out of the folder or the first module is no
/// transformer.
Result<std::vector<SentenceModule>> readSentenceModules(const std::string &folder);
/// Returns the folder of the transformer: |folder| itself unless a readable modules.json says otherwise.
std::string findTransformerFolder(const std::string &folder);
/// Returns the content of the first of transformerSettingsFiles in the folder of the transformer of |folder|; an empty
/// object if there is none.
Result<Json> readTransformerSettings(const std::string &folder);

/// Checks `prompts` in |config|, the content of |file|: strings or null by name. `default_prompt_name`, if it is
/// neither null nor "", must be one of the names. The prompts "query" and "document" exist, without a text, in every
/// sentence-transformers model.
Status checkPrompts(const Json &config, const std::string &file);

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_SENTENCEMODULES_H
