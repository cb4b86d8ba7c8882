//===- attune-run.cpp - Run compiled models -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The commands on compiled artifacts, linked without the compiler: the tool to install on machines that do not compile.
//===----------------------------------------------------------------------===//
#include "compiler/Tools/Commands.h"
#include "compiler/Tools/Manual.h"
#include "compiler/Tools/ToolProcess.h"

using namespace attune;

/// Opens the model that --model (|flag|) or the first word (|positional|) names. Fails if both do, or neither.
static Result<Artifact> openObject(const std::string &flag, const std::string &positional, const std::string &weights) {
  if (!flag.empty() && !positional.empty())
    return Status::error("expected one model, got --model=" + flag + " and '" + positional + "'");
  const std::string &path = flag.empty() ? positional : flag;
  if (path.empty())
    return Status::error("expected a model, --model=OUT.so");
  return openDeclared(path, weights);
}

int main(int argc, char **argv) {
  ToolProcess process("attune-run");
  process.install();
  std::string model, weights;
  CommandHost host;
  host.tool = "attune-run";
  host.modelHelp = "OUT.so";
  host.modelFlag = &model;
  host.addFlags = [&](FlagTable &flags) {
    flags.addString("model", "OUT.so", model, "the compiled model");
    flags.addString("weights", "FILE|DIR", weights, "its weights (default: beside it, found by build id)");
  };
  host.openModel = [&](const std::string &positional, const ModelRequest &) { return openObject(model, positional, weights); };
  host.openCase = [&](const std::string &, const ModelRequest &) { return openObject(model, "", weights); };

  host.textHelp = "OUT.text";
  host.openText = openTextFile;

  auto command = [&](const char *name, const char *summary) {
    return CommandEntry{name, summary,
                        [&host, name](const std::vector<std::string> &arguments) { return runCommand(host, name, arguments); }};
  };
  ToolManual manual = {
      "attune-run",
      "run compiled transformer models",
      "COMMAND --model=OUT.so [flags]",
      {command("run", "one forward call, from a file or flags to a file or the screen"), command("generate", "text generation"),
       command("chat", "a conversation by the model's chat template"),
       command("check", "golden cases: worst error against tolerance for each output"),
       command("bench", "latency, rates and the fraction of the machine's peak"),
       command("tokenize", "texts to ids of a tokenizer, and back"), command("embed", "texts to vectors"),
       command("classify", "labels of texts or of their tokens, with scores"), command("fill", "words for the masks of a text"),
       command("answer", "answers to a question, from a text"), command("inspect", "signature, sizes, kernels and weights"),
       command("diff", "compare two safetensors files")},
      "attune-run COMMAND --help lists the flags of a command.\nOUT.so is made by `attune compile MODEL -o OUT.so --emit=shared`.",
      {environmentSection()}};
  return runTool(manual, ATTUNE_VERSION, {argv + 1, argv + argc}, [](const std::string &) { return std::string(); });
}
