//===- CompileText.cpp - Compiles a tokenizer for tests -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attune-test-compile-text FOLDER OUT.text [templates]: compiles the tokenizer of a folder, which needs no model; with
// `templates`, also the settings of tasks and the chat templates. An error is one line, as in the tools.
//===----------------------------------------------------------------------===//
#include "compiler/Support/OutputFile.h"
#include "compiler/Text/TextFolder.h"
#include "compiler/Text/TokenizerFolder.h"

#include <cstdio>

using namespace attune;

/// Compiles the tokenizer of |folder| and, if |templates|, the settings of tasks and the chat templates; writes them to
/// |path|. Fails if there is nothing to write.
static Status compileFolder(const std::string &folder, const std::string &path, bool templates) {
  auto warn = [](const std::string &warning) { std::fprintf(stderr, "warning: %s\n", warning.c_str()); };
  Result<std::optional<std::string>> bytes =
      templates ? Result<std::optional<std::string>>(text::compileText(folder, warn)) : text::compileTokenizer(folder, warn);
  if (!bytes)
    return bytes.status();
  if (!*bytes)
    return Status::error(folder + ": no tokenizer");
  Result<OutputFile> file = OutputFile::create(path);
  if (!file)
    return file.status();
  if (Status status = file->write((*bytes)->data(), (*bytes)->size()); status.failed())
    return status;
  return file->commit();
}

int main(int argc, char **argv) {
  bool templates = argc == 4 && std::string(argv[3]) == "templates";
  Status status = argc == 3 || templates ? compileFolder(argv[1], argv[2], templates)
                                         : Status::error("expected FOLDER OUT.text, and perhaps 'templates'");
  if (status.failed())
    std::fprintf(stderr, "error: %s\n", status.message().c_str());
  return status.failed();
}
