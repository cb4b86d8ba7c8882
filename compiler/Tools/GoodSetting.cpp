//===- GoodSetting.cpp - The setting that bisect compares with ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Tools/GoodSetting.h"
#include "compiler/Support/MemoryFile.h"
#include "compiler/Support/Strings.h"
#include "compiler/Support/Subprocess.h"
#include "compiler/Support/TemporaryFolder.h"
#include "compiler/Tools/CompileFlags.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"

using namespace attune;

/// Parses |words|, compile flags or --threads, into |options| and |threads|.
static Status parseFlags(const std::vector<std::string> &words, CompileOptions &options, int64_t &threads) {
  FlagTable table;
  // --inputs, --outputs and --set are not flags of a setting: they belong to the call that bisect searches.
  addCompileFlags(table, options, {"inputs", "outputs", "set"});
  table.addInteger("threads", "N", threads, 1, ATTUNE_MAX_THREADS, "");
  std::vector<std::string> others;
  Status status = table.parse(words, others);
  if (!status.failed() && table.helpRequested())
    status = Status::error("--help is not a flag of a compilation");
  if (!status.failed() && !others.empty())
    status = Status::error("expected flags, got '" + others[0] + "'");
  return status;
}

/// Fails unless |program|, executed with --version, succeeds within 30 seconds and begins its output with "attune " and
/// a digit.
static Status checkProgram(const std::string &program) {
  Result<MemoryFile> answer = MemoryFile::create("attune-version");
  if (!answer)
    return answer.status();
  SubprocessOptions options;
  options.program = program;
  options.arguments = {"--version"};
  options.output = answer->descriptor();
  constexpr unsigned kSeconds = 30;
  Result<SubprocessEnd> end = Subprocess::run(options, kSeconds);
  if (!end)
    return end.status();
  Result<std::string> text = answer->read();
  std::string expected = "'" + program + "': expected an attune executable, whose --version says 'attune' and a number, got ";
  if (!end->succeeded())
    return Status::error(expected + end->text());
  if (!text)
    return text.status();
  llvm::StringRef line = llvm::StringRef(*text).split('\n').first;
  if (!line.starts_with("attune ") || line.size() < 8 || !llvm::isDigit(line[7]))
    return Status::error(expected + "'" + line.take_front(80).str() + "'");
  return {};
}

Result<GoodSetting> GoodSetting::create(const std::vector<std::string> &values, const std::string &program) {
  GoodSetting setting;
  setting.given = llvm::join(values, " ");
  setting.program = program;
  std::vector<std::string> words;
  for (const std::string &value : values) {
    // A value that is the path of a file is one word, because the path may have spaces.
    if (llvm::sys::fs::is_regular_file(value)) {
      words.push_back(value);
      continue;
    }
    llvm::BumpPtrAllocator allocator;
    llvm::StringSaver saver(allocator);
    llvm::SmallVector<const char *> parts;
    llvm::cl::TokenizeGNUCommandLine(value, saver, parts);
    words.insert(words.end(), parts.begin(), parts.end());
  }
  if (words.empty())
    return Status::error("expected flags of attune compile or an attune executable, got ''");
  if (words[0].rfind('-', 0) != 0) {
    setting.isOther = true;
    std::string name = words[0];
    words.erase(words.begin());
    llvm::ErrorOr<std::string> found =
        name.find('/') == std::string::npos && !llvm::sys::fs::exists(name) ? llvm::sys::findProgramByName(name) : name;
    if (!found || !llvm::sys::fs::is_regular_file(*found))
      return Status::error("expected flags of attune compile, which begin with '-', or an attune executable, got '" + name + "'");
    setting.program = *found;
    if (Status status = checkProgram(setting.program); status.failed())
      return status;
  }
  CompileOptions options;
  int64_t threads = 0;
  // Flags for another program are not checked here, because that program may have other flags.
  if (!setting.isOther)
    if (Status status = parseFlags(words, options, threads); status.failed())
      return status;
  if (Status status = checkExactProducts(options); status.failed())
    return status;
  for (size_t i = 0; i < words.size(); ++i) {
    bool isThreads = words[i] == "--threads" && i + 1 < words.size();
    auto &list = isThreads || startsWith(words[i], "--threads=") ? setting.ofCalls : setting.flags;
    list.push_back(words[i]);
    if (isThreads)
      list.push_back(words[++i]);
  }
  return setting;
}

/// Returns true if |word| is one of |flags|, alone or with "=" and a value behind it.
static bool isFlag(llvm::StringRef word, llvm::ArrayRef<llvm::StringRef> flags) {
  return llvm::any_of(flags, [&](llvm::StringRef flag) { return word == flag || (word.starts_with(flag) && word[flag.size()] == '='); });
}

std::vector<std::string> GoodSetting::joinWords(const PlainCall &call) const {
  bool hasTarget = llvm::any_of(flags, [](const std::string &word) { return isFlag(word, {"--target"}); });
  std::vector<std::string> words;
  // In call.words, a flag and its value are one word.
  for (const std::string &word : call.words)
    if (!hasTarget || !isFlag(word, {"--target", "--gpu", "--kernels"}))
      words.push_back(word);
  words.insert(words.end(), flags.begin(), flags.end());
  return words;
}

Result<PlainCall> GoodSetting::apply(const PlainCall &call, int64_t &threads) const {
  PlainCall changed = call;
  changed.words = joinWords(call);
  // The options of the result come from the flags of the call and of the setting; its model, inputs, outputs and
  // entries are those of the call.
  CompileOptions options;
  if (Status status = parseFlags(changed.words, options, threads); status.failed())
    return status;
  if (Status status = parseFlags(ofCalls, options, threads); status.failed())
    return status;
  options.model = call.compile.model;
  options.inputs = call.compile.inputs;
  options.outputs = call.compile.outputs;
  options.entries = call.compile.entries;
  changed.compile = std::move(options);
  return changed;
}

Result<std::vector<OwnedTensor>> GoodSetting::run(const PlainCall &call, const PlainInputs &inputs, int64_t threads) const {
  std::vector<std::string> arguments{"run"};
  if (threads > 0)
    arguments.push_back("--threads=" + std::to_string(threads));
  arguments.insert(arguments.end(), ofCalls.begin(), ofCalls.end());
  return execute(std::move(arguments), call, inputs);
}

Result<std::vector<OwnedTensor>> GoodSetting::runPhase(Phase phase, const PlainCall &call, const PlainInputs &inputs) const {
  return execute({"run", "--from-phase=" + stringifyPhase(phase).str()}, call, inputs);
}

Result<std::vector<OwnedTensor>> GoodSetting::execute(std::vector<std::string> arguments, const PlainCall &call,
                                                      const PlainInputs &inputs) const {
  Result<TemporaryFolder> folder = TemporaryFolder::create("attune-bisect.");
  if (!folder)
    return folder.status();
  const std::string from = folder->file("inputs.safetensors"), to = folder->file("outputs.safetensors");
  if (Status status = saveSafetensors(from, inputs.tensors); status.failed())
    return status;
  PlainCall repeated = call;
  repeated.words = joinWords(call);
  std::vector<std::string> rest = repeated.repeat(inputs, from, to);
  if (!isOther)
    arguments.push_back("--quiet");
  arguments.insert(arguments.end(), rest.begin(), rest.end());
  SubprocessOptions options;
  options.program = program;
  options.arguments = std::move(arguments);
  if (Status status = Subprocess::runTool(options, "'" + program + "'"); status.failed()) {
    // The message of another program keeps the name of that program. Of a message of this one, only the text of the
    // error is kept.
    size_t begin = isOther ? std::string::npos : status.message().find(": error: ");
    return begin == std::string::npos ? status : Status::error(status.message().substr(begin + 9));
  }
  return loadSafetensors(to);
}
