//===- MeasureKernels.cpp - Both backends against the clock ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What runs is the model itself, compiled by each backend, so that kernels meet the caches as they will. Calls are made by other processes,
// which can be stopped, in turn: on shared machines speed changes from second to second.
//===----------------------------------------------------------------------===//

#include "compiler/Driver/KernelChoices.h"
#include "runtime/io/Json.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <cmath>

using namespace attune;

/// What all calls of one entry may take in one round, and rounds.
static constexpr unsigned kSecondsToMeasure = 60;
static constexpr int kRounds = 3;

namespace {

/// Both objects of one model, and what was measured of them.
class Measurement {
public:
  explicit Measurement(const CompileOptions &options) : options(options) {}
  ~Measurement() {
    if (!folder.empty())
      llvm::sys::fs::remove_directories(folder);
  }
  Result<KernelChoices> run();

private:
  Status compile();
  /// The JSON that `attune |arguments|` prints; none if it took too long.
  Result<std::optional<Json>> ask(const std::vector<std::string> &arguments);
  Status measureEntry(const std::string &entry);
  std::string object(const std::string &backend) const { return folder + "/" + backend + ".so"; }

  const CompileOptions &options;
  std::string folder, tool;
  KernelChoices choices;
  /// By kernels: the sum over entries of the logarithms of Halide's time by MLIR's.
  std::map<std::string, double> scores;
};

} // namespace

Status Measurement::compile() {
  llvm::SmallString<128> path;
  if (llvm::sys::fs::createUniqueDirectory("attune-best", path))
    return Status::error("cannot create a temporary folder");
  folder = path.str().str();
  for (KernelBackend backend : {KernelBackend::Mlir, KernelBackend::Halide}) {
    CompileOptions copy = options;
    copy.kernels = backend;
    copy.emit = EmitKind::Shared;
    copy.output = object(backend == KernelBackend::Mlir ? "mlir" : "halide");
    copy.name = "model";
    copy.dumpStages.clear();
    copy.compileTo.reset();
    copy.weightsStore = nullptr;
    if (Status status = compileModel(copy); status.failed())
      return status;
  }
  return {};
}

Result<std::optional<Json>> Measurement::ask(const std::vector<std::string> &arguments) {
  std::string output = folder + "/output", errors = folder + "/errors", message;
  for (const std::string &file : {output, errors}) // would be written over, not made shorter
    llvm::sys::fs::remove(file);
  std::vector<llvm::StringRef> words{tool};
  words.insert(words.end(), arguments.begin(), arguments.end());
  bool failed = false;
  int status = llvm::sys::ExecuteAndWait(tool, words, std::nullopt, {llvm::StringRef(""), llvm::StringRef(output), llvm::StringRef(errors)},
                                         kSecondsToMeasure, 0, &message, &failed);
  if (status == -2 && !failed) // stopped at the limit, or crashed
    return std::optional<Json>();
  auto text = llvm::MemoryBuffer::getFile(status == 0 ? output : errors);
  std::string line = text ? (*text)->getBuffer().trim().split('\n').first.str() : message;
  if (status != 0)
    return Status::error("--kernels=best: measuring failed: " + line);
  Result<Json> parsed = parseJson(line.empty() ? "" : std::string_view((*text)->getBuffer()), arguments.front());
  if (!parsed)
    return Status::error("--kernels=best: measuring failed: " + parsed.message());
  return std::optional<Json>(std::move(*parsed));
}

/// The member |key| of |object| as a string or a number, or nothing of that kind.
static std::string textOf(const Json &object, std::string_view key) {
  const Json *value = findJson(object, key);
  return value && value->is_string() ? value->get<std::string>() : std::string();
}
static double numberOf(const Json &object, std::string_view key) {
  const Json *value = findJson(object, key);
  return value && value->is_number() ? value->get<double>() : 0;
}
/// The members of the array |key| of |object|.
static Json rowsOf(const Json &object, std::string_view key) {
  const Json *rows = findJson(object, key);
  return rows && rows->is_array() ? *rows : Json::array();
}

/// Adds the time of every kernel of |bench| to |times| if it is less than what is there.
static void collect(const Json &bench, std::map<std::string, double> &times) {
  for (const Json &row : rowsOf(bench, "kernels")) {
    std::string name = textOf(row, "name");
    double ms = numberOf(row, "min_ms") * numberOf(row, "runs");
    auto [it, isNew] = times.insert({name, ms});
    if (!isNew)
      it->second = std::min(it->second, ms);
  }
}

Status Measurement::measureEntry(const std::string &entry) {
  std::map<std::string, double> times[2];
  bool tooLong[2] = {false, false};
  const char *backends[2] = {"mlir", "halide"};
  for (int round = 0; round < kRounds; ++round)
    for (int i : {0, 1}) {
      if (tooLong[i])
        continue;
      auto result = ask({"bench", object(backends[i]), "--entry=" + entry, "--threads=1", "--repeat=1", "--profile", "--json"});
      if (!result)
        return result.status();
      if (*result)
        collect(**result, times[i]);
      else
        tooLong[i] = true;
    }
  if (times[0].empty()) // by MLIR, too, on a machine that has no time: the other entries decide
    return {};
  bool isHopeless = times[1].empty();
  for (auto &[name, choice] : choices) {
    auto mlir = times[0].find(name), halide = times[1].find(name);
    if (mlir == times[0].end() || mlir->second <= 0)
      continue;
    double other = isHopeless ? kSecondsToMeasure * 1e3 : halide == times[1].end() ? 0 : halide->second;
    if (other <= 0)
      continue;
    choice.mlirMs += mlir->second;
    choice.halideMs += other;
    scores[name] += std::log(other / mlir->second);
  }
  return {};
}

Result<KernelChoices> Measurement::run() {
  static int here;
  std::string compiler = llvm::sys::fs::getMainExecutable("attune", &here);
  auto found = llvm::sys::findProgramByName("attune", {llvm::sys::path::parent_path(compiler)});
  if (!found)
    return Status::error("--kernels=best: expected the program 'attune' beside the compiler, to measure kernels");
  tool = *found;
  if (Status status = compile(); status.failed())
    return status;
  auto described = ask({"inspect", "--json", object("halide")});
  if (!described)
    return described.status();
  Json description = *described ? std::move(**described) : Json();
  std::map<std::string, std::string> backends;
  for (const Json &kernel : rowsOf(description, "kernels")) {
    backends[textOf(kernel, "name")] = textOf(kernel, "backend");
    choices[textOf(kernel, "name")];
  }
  if (choices.empty())
    return Status::error("--kernels=best: measuring failed: the model cannot be inspected");
  for (const Json &entry : rowsOf(description, "entries"))
    if (Status status = measureEntry(textOf(entry, "name")); status.failed())
      return status;
  for (auto &[name, choice] : choices)
    if (backends[name] == "halide" && scores[name] < 0)
      choice.backend = "halide";
  return std::move(choices);
}

Result<KernelChoices> attune::measureKernels(const CompileOptions &options) { return Measurement(options).run(); }
