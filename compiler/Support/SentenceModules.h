//===- SentenceModules.h - The modules of a sentence-transformers folder --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads modules.json. It lists the modules that compute the vector of a text, each from the result of the one before:
//
//     modules.json          [{"path": "", "type": "….Transformer"}, {"path": "1_Pooling", "type": "….Pooling"}, …]
//     config.json, …        the first module, the transformer; older folders have it in 0_Transformer
//     1_Pooling/config.json the settings of another module, whose tensors, if any, are in the same folder
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_SENTENCEMODULES_H
#define ATTUNE_COMPILER_SUPPORT_SENTENCEMODULES_H

#include "compiler/Support/Json.h"

#include <string>
#include <vector>

namespace attune {

/// A module of a folder.
struct SentenceModule {
  /// The last part of the module's Python class, such as "Transformer", "Pooling", "Dense" or "Normalize".
  std::string type;
  /// The module's folder, relative to the folder of the model; "" for the folder of the model itself.
  std::string path;
};

/// The names of the files that list the modules and the prompts, respectively.
inline constexpr const char *sentenceModulesFile = "modules.json", *sentenceConfigFile = "config_sentence_transformers.json";
/// The names that the file with the settings of the transformer module may have; the first that exists in the
/// transformer's folder is read.
inline constexpr const char *transformerSettingsFiles[] = {
    "sentence_bert_config.json",   "sentence_roberta_config.json",     "sentence_distilbert_config.json", "sentence_camembert_config.json",
    "sentence_albert_config.json", "sentence_xlm-roberta_config.json", "sentence_xlnet_config.json"};

/// Returns the modules of |folder| in the order of modules.json, the transformer first. Returns an empty list if the
/// folder has no modules.json, and only the transformer for a cross-encoder, a model that computes a score of two
/// texts. Fails if modules.json is malformed, if a path leads out of the folder, or if the first module is no
/// transformer.
Result<std::vector<SentenceModule>> readSentenceModules(const std::string &folder);
/// Returns the folder of the transformer: the one that modules.json names, or |folder| itself if readSentenceModules
/// fails or returns no modules.
std::string findTransformerFolder(const std::string &folder);
/// Returns the content of the first of transformerSettingsFiles in the folder of the transformer of |folder|; an empty
/// object if there is none.
Result<Json> readTransformerSettings(const std::string &folder);

/// Fails if the prompts in |config|, the content of |file|, are malformed. `prompts` may be missing or null, or an
/// object whose values are strings or null. `default_prompt_name` may be missing, null, "", a key of `prompts`, or
/// "query" or "document": these two prompts exist, without a text, in every sentence-transformers model.
Status checkPrompts(const Json &config, const std::string &file);

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_SENTENCEMODULES_H
