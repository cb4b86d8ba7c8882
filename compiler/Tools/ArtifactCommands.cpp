//===- ArtifactCommands.cpp - Commands that compile their model first -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Cache.h"
#include "compiler/Driver/CompileInputs.h"
#include "compiler/Import/ModelFolder.h"
#include "compiler/Support/FileKind.h"
#include "compiler/Support/HubCache.h"
#include "compiler/Support/InputFiles.h"
#include "compiler/Support/OutputFile.h"
#include "compiler/Support/SentenceModules.h"
#include "compiler/Text/TokenizerFolder.h"
#include "compiler/Tools/CompileFlags.h"
#include "compiler/Tools/CompilerCommands.h"
#include "compiler/Tools/ExplainKernel.h"
#include "compiler/Tools/InputRequests.h"
#include "compiler/Tools/RunPhase.h"
#include "runtime/text/TextFormat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Support/FileSystem.h"

#include <cstring>

using namespace attune;

/// Returns true if |path| is a shared object.
static bool isSharedObject(const std::string &path) {
  // Reads regular files only: reading a device or a pipe may never end.
  llvm::file_magic magic;
  return llvm::sys::fs::is_regular_file(path) && !llvm::identify_magic(path, magic) && magic == llvm::file_magic::elf_shared_object;
}

/// Returns |flags|, the compile options of the command line, for |model|, completed by |request|. Declares the files of
/// the model as files that the command must not overwrite (InputFiles.h).
static Result<CompileOptions> combine(const CompileOptions &flags, const ModelPath &model, const ModelRequest &request) {
  CompileOptions options = flags;
  options.model = model.path;
  // The folder of a model in the Hugging Face cache is named after a hash, so the model gets the name of its
  // repository.
  if (options.name.empty() && !model.hubName.empty())
    options.name = toIdentifier(model.hubName);
  requestInputs(options, request.inputs, request.inputNames);
  // A file of IR already has its outputs.
  if (options.outputs.empty() && isModelSource(options.model))
    options.outputs = request.outputs;
  options.extraOutputs = request.extraOutputs;
  options.entries = request.entries;
  if (request.skipsPadding)
    options.padding = Padding::Skip;
  if (options.pruneHeads.empty())
    options.pruneHeads = request.pruneHeads;
  for (const std::string &adapter : request.adapters)
    options.adapters.push_back(parseAdapter(adapter));
  if (!request.dtype.empty()) {
    std::optional<mlir::xfmr::Precision> dtype = mlir::xfmr::symbolizePrecision(request.dtype);
    if (!dtype)
      return Status::error("--dtype: expected f32, bf16, f16 or int8, got '" + request.dtype + "'");
    options.target.precision = *dtype;
  }
  if (Status status = declareInputs(options); status.failed())
    return status;
  return options;
}

/// Compiles the tokenizer of |model|, a folder or a GGUF file, and returns the bytes of the .text file. Fails if there
/// is no tokenizer.
static Result<std::string> compileText(const std::string &model) {
  Result<std::optional<std::string>> compiled = text::compileTokenizer(findTransformerFolder(model), createListener().warning);
  if (!compiled)
    return compiled.status();
  if (!*compiled)
    return Status::error(model + ": expected a folder with a tokenizer (tokenizer.json, vocab.txt, vocab.json with merges.txt, or a "
                                 "SentencePiece model)");
  return std::move(**compiled);
}

/// Opens the tokenizer |given|: a .text file, or one that is compiled in memory from a model folder, a GGUF file or a
/// name in the Hugging Face cache.
static Result<std::shared_ptr<attune_text>> openTokenizer(const std::string &given) {
  Result<ModelPath> found = findModel(given);
  if (!found)
    return found.status();
  const std::string &name = found->path;
  if (!llvm::sys::fs::is_directory(name) && !isGgufFile(name))
    return openTextFile(name);
  Result<std::string> bytes = compileText(name);
  if (!bytes)
    return bytes.status();
  std::shared_ptr<void> memory(std::aligned_alloc(text::kSectionAlignment, bytes->size()), std::free);
  if (!memory)
    return Status::error(name + ": no memory for " + std::to_string(bytes->size()) + " bytes");
  std::memcpy(memory.get(), bytes->data(), bytes->size());
  attune_text *opened;
  if (attune_text_open_memory(memory.get(), bytes->size(), &opened) != ATTUNE_OK)
    return Status::error(name + ": " + attune_last_error());
  return std::shared_ptr<attune_text>(opened, [memory](attune_text *text) { attune_text_close(text); });
}

/// Compiles the tokenizer of |model|, a folder, a GGUF file or a name in the Hugging Face cache, to the file |path|.
static Status writeTokenizer(const std::string &model, const std::string &path) {
  Result<ModelPath> found = findModel(model);
  if (!found)
    return found.status();
  if (!llvm::sys::fs::is_directory(found->path) && !isGgufFile(found->path))
    return Status::error(model + ": --output: expected a model folder, whose tokenizer is compiled");
  CompileOptions options;
  options.model = found->path;
  if (Status status = declareInputs(options); status.failed())
    return status;
  if (Status status = checkOutput(path); status.failed())
    return status;
  Result<std::string> bytes = compileText(found->path);
  if (!bytes)
    return bytes.status();
  Result<OutputFile> file = OutputFile::create(path);
  if (!file)
    return file.status();
  if (Status status = file->write(bytes->data(), bytes->size()); status.failed())
    return status;
  return file->commit();
}

int attune::runArtifactCommand(const std::string &command, const std::vector<std::string> &arguments) {
  if (command == "run" && asksForPhase(arguments))
    return runPhaseCommand(arguments);
  CompileOptions flags;
  PhaseRunFlags phaseFlags;
  auto open = [&](const std::string &model, const ModelRequest &request) -> Result<Artifact> {
    if (phaseFlags.wide || !phaseFlags.signature.empty())
      return Status::error(std::string(phaseFlags.wide ? "--f64" : "--signature") + ": expected --from-phase beside it");
    if (model.empty())
      return Status::error("expected a model, a folder, .mlir or .so");
    if (isSharedObject(model))
      return openDeclared(model, flags.weights);
    Result<ModelPath> found = findModel(model);
    if (!found)
      return found.status();
    Result<CompileOptions> options = combine(flags, *found, request);
    if (!options)
      return options.status();
    Result<CachedModel> cached = compileCached(*options, createListener());
    if (!cached)
      return cached.status();
    // Messages use the user's name for the model, not the path of its object in the cache.
    Result<Artifact> artifact = Artifact::openShared(cached->object, "", model);
    if (artifact)
      artifact->keepAlive(std::move(cached->use));
    return artifact;
  };
  CommandHost host;
  host.tool = "attune";
  host.modelHelp = "MODEL|OUT.so";
  host.addFlags = [&](FlagTable &table) {
    llvm::SmallVector<llvm::StringRef> own;
    if (command == "run" || command == "generate" || command == "chat" || command == "check")
      own = {"inputs", "outputs"};
    // These commands choose inputs and outputs themselves, always skip padding, and have no --set.
    if (command == "embed" || command == "classify" || command == "fill" || command == "answer")
      own = {"inputs", "outputs", "padding", "set"};
    if (command == "check")
      own.push_back("dtype");
    else if (command == "run" || command == "generate" || command == "chat")
      own.push_back("set");
    table.beginGroup("Compilation of a model folder", /*isFolded=*/true);
    addCompileFlags(table, flags, own);
    if (command == "run")
      phaseFlags.addTo(table);
  };
  host.explain = [&](const std::string &model, const std::string &kernel, const std::string &remarks) -> Result<nlohmann::ordered_json> {
    if (!remarks.empty())
      return explainKernel(flags, kernel, remarks);
    if (model.empty())
      return Status::error("expected a model, a folder, .mlir or .so");
    if (isSharedObject(model))
      return Status::error("--why: '" + model + "' has no remarks; expected the model folder, or --remarks=FILE from its compilation");
    Result<ModelPath> found = findModel(model);
    if (!found)
      return found.status();
    Result<CompileOptions> options = combine(flags, *found, ModelRequest());
    if (!options)
      return options.status();
    return explainKernel(*options, kernel, remarks);
  };
  host.textHelp = "MODEL|OUT.text";
  host.openText = openTokenizer;
  host.writeText = writeTokenizer;
  host.openModel = open;
  host.openCase = open;
  return runCommand(host, command, arguments);
}
