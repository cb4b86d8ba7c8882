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
  std::string file; ///< path of the file that has it, for messages
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

/// Reads the templates of |folder|, which may be a GGUF file, as transformers does. The templates are
/// chat_template.jinja and additional_chat_templates/*.jinja. Without such files, the templates are the value of the
/// key `chat_template` of tokenizer_config.json, one template or a list by name; without that value, they are the value
/// of the same key of chat_template.json. Special tokens come from tokenizer_config.json. If that file has no
/// `added_tokens_decoder`, the special tokens and the `chat_template` of special_tokens_map.json replace those of
/// tokenizer_config.json.
///
/// Missing files are skipped, so the result may have no templates. Fails if one of these files cannot be read or is
/// malformed.
Result<ChatTemplates> readChatTemplates(const std::string &folder);

/// Reads templates and special tokens from the metadata of |file|: `tokenizer.chat_template` is the template "default",
/// `tokenizer.chat_template.NAME` the template NAME. Fails if a template is not a UTF-8 string.
Result<ChatTemplates> readChatTemplates(const GgufFile &file);

/// Compiles |templates| and returns the section CHAT of a .text file. A template that cannot be compiled does not fail
/// the compilation of the model. Its reason goes to |warnings| and into the chat program, and the runtime returns it as
/// the error of a rendering of this template.
std::string compileChatTemplates(const ChatTemplates &templates, std::vector<std::string> &warnings);

} // namespace attune

#endif // ATTUNE_COMPILER_TEXT_CHATTEMPLATES_H
