//===- ChatTemplates.h - Chat templates of model folders ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_CHATTEMPLATES_H
#define ATTUNE_COMPILER_TEXT_CHATTEMPLATES_H

#include "compiler/Support/Gguf.h"

#include <string>
#include <utility>
#include <vector>

namespace attune {

/// A template of a model folder.
struct ChatTemplate {
  std::string name; ///< "default", "tool_use", …
  std::string file; ///< where it comes from, for messages
  std::string source;
};

/// The templates of a folder, and the special tokens that all of them see.
struct ChatTemplates {
  std::vector<ChatTemplate> templates;
  std::vector<std::pair<std::string, std::string>> specialTokens; ///< "bos_token" and its text, …
};

/// Returns the names of the files that readChatTemplates reads, relative to |folder|: JSON files, which need not exist,
/// and the .jinja files that exist.
std::vector<std::string> chatTemplateFileNames(const std::string &folder);

/// Reads the templates of |folder|, as transformers does: chat_template.jinja and additional_chat_templates/*.jinja;
/// without these, the key `chat_template` of tokenizer_config.json, one template or a list by name; without that, the
/// same key of chat_template.json. Special tokens come from tokenizer_config.json; if that has no
/// `added_tokens_decoder`, the special tokens and the `chat_template` of special_tokens_map.json replace its own.
/// |folder| may be a GGUF file. A folder without templates gives a result without templates. Fails if one of these
/// files is malformed.
Result<ChatTemplates> readChatTemplates(const std::string &folder);

/// Reads the templates of |file|: `tokenizer.chat_template`, the default one, and `tokenizer.chat_template.NAME`.
Result<ChatTemplates> readChatTemplates(const GgufFile &file);

/// Compiles |templates| to the section CHAT of a .text file. A template that cannot be compiled does not fail the
/// compilation of the model: the chat program stores the reason, which the runtime returns as the error when the
/// template is to be rendered, and |warnings| gets it, too.
std::string compileChatTemplates(const ChatTemplates &templates, std::vector<std::string> &warnings);

} // namespace attune

#endif // ATTUNE_COMPILER_TEXT_CHATTEMPLATES_H
