//===- Explore.cpp - The command explore ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Cache.h"
#include "compiler/Driver/CompileInputs.h"
#include "compiler/Driver/PhaseDump.h"
#include "compiler/Explore/ExplorePage.h"
#include "compiler/Support/HubCache.h"
#include "compiler/Support/InputFiles.h"
#include "compiler/Tools/BenchKernels.h"
#include "compiler/Tools/CompileFlags.h"
#include "compiler/Tools/CompilerCommands.h"
#include "compiler/Tools/Describe.h"
#include "compiler/Tools/Dims.h"
#include "compiler/Tools/FlagInputs.h"
#include "compiler/Tools/InputFile.h"
#include "compiler/Tools/InputRequests.h"
#include "compiler/Tools/PackedWeights.h"
#include "compiler/Tools/PeakRate.h"
#include "compiler/Tools/ReadRate.h"
#include "llvm/Support/Path.h"

#include <cmath>
#include <cstring>

using namespace attune;

/// The largest number of probabilities in all attention maps of a page together. If the maps of a call have more, each
/// shows only its first queries and keys.
static constexpr int64_t kMostProbabilities = 6 << 20;

namespace {
struct ExploreOptions {
  CompileOptions compile;
  std::string input, output;
  FlagInputs flagInputs{FlagInputs::Padding::None};
  int64_t threads = 0;

  /// Returns true if the flags give inputs, so that there is a call to measure.
  bool hasCall() const { return !input.empty() || !flagInputs.empty(); }
};

/// A compiled model and the inputs of a call. Some of |inputs| are views of |made|, the inputs that flags give.
struct ExploredCall {
  std::optional<Artifact> artifact;
  std::vector<OwnedTensor> made;
  std::vector<TensorView> inputs;
};
} // namespace

static Result<Artifact> openCached(const CompileOptions &options) {
  Result<CachedModel> cached = compileCached(options, createListener());
  if (!cached)
    return cached.status();
  Result<Artifact> artifact = Artifact::openShared(cached->object, "", options.model);
  if (artifact)
    artifact->keepAlive(std::move(cached->use));
  return artifact;
}

static Result<ExploredCall> prepareCall(const ExploreOptions &options, const CompileOptions &compile, const InputFile &file) {
  ExploredCall call;
  Result<Artifact> artifact = openCached(compile);
  if (!artifact)
    return artifact.status();
  call.artifact = *artifact;
  call.inputs = file.tensors();
  Result<std::vector<OwnedTensor>> made = options.flagInputs.make(*artifact, {"forward"}, call.inputs);
  if (!made)
    return made.status();
  call.made = std::move(*made);
  for (const OwnedTensor &tensor : call.made)
    call.inputs.push_back(viewOf(tensor));
  return call;
}

/// Returns the probabilities of the first sequence in |tensor|, `[batch, heads, queries, keys]` of F32, as bytes from 0
/// to 255: those of at most the first |most| queries and keys. Returns nullopt for a tensor of another rank or type or
/// with an empty batch.
static std::optional<AttentionMap> takeMap(const OwnedTensor &tensor, int64_t most) {
  const std::vector<int64_t> &shape = tensor.spec.shape;
  if (shape.size() != 4 || tensor.spec.dtype != DType::F32 || shape[0] < 1)
    return std::nullopt;
  AttentionMap map;
  map.name = tensor.spec.name;
  map.heads = shape[1];
  map.rows = std::min(shape[2], most);
  map.columns = std::min(shape[3], most);
  map.whole = map.rows == shape[2] && map.columns == shape[3];
  auto *values = reinterpret_cast<const float *>(tensor.data.data());
  for (int64_t head = 0; head < map.heads; ++head)
    for (int64_t row = 0; row < map.rows; ++row)
      for (int64_t column = 0; column < map.columns; ++column) {
        float value = values[(head * shape[2] + row) * shape[3] + column];
        map.probabilities += static_cast<char>(std::lround(255 * std::min(std::max(value, 0.0f), 1.0f)));
      }
  return map;
}

/// Runs the model with attention probabilities as further outputs, and adds their maps and the tokens of the input to
/// |facts|. Prints a notice and adds nothing if the model cannot be compiled with these outputs.
static Status exploreAttention(const ExploreOptions &options, const InputFile &file, ExploreFacts &facts) {
  CompileOptions compile = options.compile;
  compile.extraOutputs = {"attentions"};
  compile.entries = {"forward"};
  Result<ExploredCall> prepared = prepareCall(options, compile, file);
  if (!prepared) {
    reportNotice("attune", "no attention probabilities: " + prepared.message());
    return {};
  }
  Result<EntryCall> call = EntryCall::prepare(*prepared->artifact, "forward", prepared->inputs, options.threads);
  if (!call)
    return call.status();
  if (Status status = call->run(); status.failed())
    return status;
  Result<std::vector<OwnedTensor>> outputs = call->outputs({});
  if (!outputs)
    return outputs.status();
  std::vector<const OwnedTensor *> maps;
  int64_t heads = 0, longest = 1;
  for (const OwnedTensor &output : *outputs)
    if (output.spec.name.find("attentions") != std::string::npos && output.spec.shape.size() == 4) {
      maps.push_back(&output);
      heads += output.spec.shape[1];
      longest = std::max({longest, output.spec.shape[2], output.spec.shape[3]});
    }
  int64_t most = heads == 0 ? 0 : std::min<int64_t>(longest, std::sqrt(double(kMostProbabilities) / heads));
  for (const OwnedTensor *map : maps)
    if (std::optional<AttentionMap> taken = takeMap(*map, std::max<int64_t>(1, most)))
      facts.attention.push_back(std::move(*taken));
  for (const TensorView &input : prepared->inputs)
    if (input.name == "input_ids" && input.dtype == DType::I64 && !input.shape.empty()) {
      Result<std::shared_ptr<attune_text>> text = prepared->artifact->openText();
      for (int64_t i = 0; i < input.shape.back(); ++i) {
        int64_t id;
        std::memcpy(&id, input.data + 8 * i, 8);
        size_t bytes = 0;
        const char *token = text ? attune_text_token(text->get(), id, &bytes) : nullptr;
        facts.tokens.push_back(token ? std::string(token, bytes) : std::to_string(id));
      }
    }
  return {};
}

/// Adds the description of the compiled model and its kernels to |facts|: with their times if there is a call, else
/// only with their work.
static Status exploreArtifact(const ExploreOptions &options, const InputFile &file, ExploreFacts &facts) {
  Result<ExploredCall> prepared = prepareCall(options, options.compile, file);
  if (!prepared)
    return prepared.status();
  const Artifact &artifact = *prepared->artifact;
  const attune_model_desc &desc = artifact.desc();
  Result<const attune_entry_desc *> entry = artifact.entry(options.hasCall() ? "forward" : "");
  if (!entry)
    return entry.status();
  facts.entry = (*entry)->name;
  Result<std::vector<int64_t>> dims = DimFlags().resolve(**entry, /*strict=*/false);
  if (options.hasCall()) {
    Result<EntryCall> call = EntryCall::prepare(artifact, "forward", prepared->inputs, options.threads);
    if (!call)
      return call.status();
    dims = call->dims();
    int64_t threads = call->threads();
    MachineRates machine = ratesFor(desc, measurePeakGflops(threads), ReadRate().best(threads, 4));
    Result<nlohmann::ordered_json> kernels = profileKernels(artifact, **entry, prepared->inputs, threads, machine, {0, 0});
    if (!kernels)
      return kernels.status();
    facts.kernels = *kernels;
    facts.machine = {{"gflops", machine.gflops}, {"read_bytes_per_s", machine.readBytesPerSecond}, {"threads", threads}};
  } else if (dims) {
    facts.kernels = describeRoofline(desc, **entry, *dims);
  }
  if (!dims)
    return dims.status();
  facts.facts["family"] = desc.family;
  facts.facts["architecture"] = desc.architecture;
  facts.facts["compiled with"] = desc.options;
  facts.facts["cpu"] = desc.cpu;
  facts.facts["entry"] = facts.entry;
  for (uint32_t i = 0; i < (*entry)->num_dims; ++i)
    facts.facts[(*entry)->dims[i].name] = std::to_string((*dims)[i]);
  facts.facts["weights"] = std::to_string(desc.weights_bytes) + " bytes";
  facts.facts["workspace"] = std::to_string((*entry)->workspace_bytes(dims->data(), std::max<int64_t>(1, options.threads))) + " bytes";
  Result<PackedWeights> weights = PackedWeights::open(attune_model_weights_path(artifact.model()));
  if (!weights)
    return weights.status();
  for (nlohmann::ordered_json &row : facts.weights = describeManifest(weights->tensors()))
    for (const char *key : {"shape", "source"})
      if (row.contains(key) && !row[key].is_string())
        row[key] = row[key].dump();
  return {};
}

static Status explore(ExploreOptions &options) {
  if (Status status = declareOutput(options.output); status.failed())
    return status;
  if (Status status = declareInputs(options.compile); status.failed())
    return status;
  // A page that cannot be written is an error before the model is compiled.
  if (Status status = checkWritable(options.output); status.failed())
    return status;
  Result<InputFile> file = InputFile::open(options.input);
  if (!file)
    return file.status();
  requestInputs(options.compile, file->specs(), options.flagInputs.names());
  ExploreFacts facts;
  facts.title = llvm::sys::path::filename(llvm::StringRef(options.compile.model).rtrim('/')).str();
  ExploredCompilation compilation;
  if (Status status = compilation.compile(options.compile, createListener()); status.failed())
    return status;
  if (Status status = exploreArtifact(options, *file, facts); status.failed())
    return status;
  if (options.hasCall())
    if (Status status = exploreAttention(options, *file, facts); status.failed())
      return status;
  return writeText(options.output, createExplorePage(compilation, facts));
}

int attune::runExploreCommand(const CommandHost &host, const std::vector<std::string> &arguments) {
  ExploreOptions options;
  FlagTable flags;
  flags.addString("o", "PAGE", options.output, "the page, a file of HTML that needs no other file and no network");
  flags.addString("run", "FILE", options.input, "inputs of a call to measure, a safetensors file");
  options.flagInputs.addTo(flags);
  addThreadsFlag(flags, options.threads);
  flags.beginGroup("Compilation of a model folder", /*isFolded=*/true);
  addCompileFlags(flags, options.compile);
  if (std::optional<int> status = parseModelArguments(
          host, flags, arguments, options.compile.model, "explore MODEL -o PAGE.html [--run=FILE|--ids=N,N,...] [flags]",
          "Writes a page about the compilation of a model: its layers, operations, kernels and their assembly, the IR "
          "before and after each pass, the memory plan, packed weights, remarks and compile time; of a run, the time of "
          "kernels against the machine's limits and the attention probabilities."))
    return *status;
  if (options.compile.model.empty() || options.output.empty())
    return reportError(host.tool, "expected a model and a page, attune explore MODEL -o PAGE.html");
  const std::string &target = options.compile.target.name;
  if (!target.empty() && target != "cpu")
    return reportError(host.tool, "--target: explore supports cpu, got '" + target + "'");
  Result<ModelPath> model = findModel(options.compile.model);
  if (!model)
    return reportError(host.tool, model.message());
  options.compile.model = model->path;
  if (options.compile.name.empty() && !model->hubName.empty())
    options.compile.name = toIdentifier(model->hubName);
  Status status = explore(options);
  return status.failed() ? reportError(host.tool, status.message()) : exitDone;
}
