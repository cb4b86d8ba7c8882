//===- ModelFolder.cpp - Opening and generating model folders -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/ModelFolder.h"
#include "compiler/Import/families/Families.h"

#include "compiler/Import/CompleteConfig.h"
#include "compiler/Import/GenerationConfig.h"
#include "compiler/Import/GgufModel.h"
#include "compiler/Import/QuantizationConfig.h"
#include "compiler/Import/ReplaceableWeights.h"
#include "compiler/Import/SentenceEmbedding.h"
#include "compiler/Import/TiedTensors.h"
#include "compiler/Import/UnreadTensors.h"
#include "compiler/Import/WeightCatalog.h"
#include "compiler/Support/ConversionAdvice.h"
#include "compiler/Support/FileKind.h"
#include "compiler/Support/Generate.h"
#include "compiler/Support/MappedFile.h"
#include "compiler/Support/OutputFile.h"
#include "compiler/Support/Safetensors.h"
#include "compiler/Support/SentenceModules.h"
#include "compiler/Text/TextFolder.h"
#include "compiler/Weights/TensorSources.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

using namespace attune;
namespace fs = std::filesystem;

static std::string inFolder(const std::string &folder, const std::string &name) { return (fs::path(folder) / name).string(); }

static bool exists(const std::string &path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

static const char *const caseName = "case.json";

/// Returns the seed in case.json, the file that makes |folder| a golden case, if it says that weights are generated;
/// nullopt if there is no case.json or it says otherwise.
static Result<std::optional<int64_t>> generatedSeed(const std::string &folder) {
  std::string path = inFolder(folder, caseName);
  if (!exists(path))
    return std::optional<int64_t>();
  Result<Json> root = readJsonFile(path);
  if (!root)
    return root.status();
  const Json *weights = findJson(*root, "weights");
  const Json *source = weights ? findJson(*weights, "source") : nullptr;
  if (!source || !source->is_string() || source->get<std::string>() != "generated")
    return std::optional<int64_t>();
  const Json *seed = findJson(*weights, "seed");
  Result<int64_t> value = jsonInteger(seed ? *seed : Json(), path, "weights.seed");
  if (!value)
    return value.status();
  return std::optional<int64_t>(*value);
}

namespace {

/// A configuration without `quantization_config`, which is read separately: it says how weights are stored, not what is
/// computed.
struct OpenedConfig {
  Config config;
  std::optional<QuantizationConfig> quantization;
  /// The tensors, if the model is a GGUF file; else null.
  std::unique_ptr<TensorProvider> tensors;
  /// The output of the entry `embed`, if a GGUF file has a pooling type for it.
  std::optional<OutputSpec> embedding;
};

} // namespace

/// Opens the stored tensors of |folder|, dequantized if |quantization| has a value.
static Result<QuantizedTensors> openStored(const std::string &folder, const std::optional<QuantizationConfig> &quantization) {
  if (quantization)
    return openQuantizedTensors(folder, quantization->format);
  Result<std::unique_ptr<TensorProvider>> tensors = openTensors(folder);
  if (!tensors)
    return tensors.status();
  return QuantizedTensors{std::move(*tensors), {}};
}

/// For each name X.weight in |weights|, checks that the stored tensor X.bias, if |spec| has no parameter of this name,
/// is zero. |known| are the names that the parameters of |spec| may have.
static Status checkBiases(const TransformerSpec &spec, const std::set<std::string> &known, const std::vector<std::string> &weights,
                          const TensorProvider &tensors) {
  for (const std::string &weight : weights) {
    const std::string bias = weight.substr(0, weight.rfind('.')) + ".bias";
    const TensorSpec *tensor = known.count(bias) ? nullptr : tensors.find(bias);
    if (!tensor)
      continue;
    std::vector<float> values(elementCount(tensor->shape).value_or(0));
    if (Status status = tensors.read(bias, 0, int64_t(values.size()), values.data()); status.failed())
      return status;
    if (std::any_of(values.begin(), values.end(), [](float value) { return value != 0; }))
      return Status::error(tensors.fileOf(bias) + ": tensor '" + bias + "': expected zeros, as " + spec.architecture + " has no such bias");
  }
  return {};
}

/// Returns the names that the parameters of |spec| may have in files.
static std::set<std::string> listKnown(const TransformerSpec &spec, const TensorProvider &tensors) {
  const WeightCatalog catalog(spec, tensors);
  std::set<std::string> known;
  for (const WeightSpec &weight : spec.weights)
    if (weight.kind == WeightSpec::Tensor)
      for (const std::string &name : catalog.namesOf(weight))
        known.insert(name);
  return known;
}

/// Checks that |spec| can use the quantized matrices of |stored|. A matrix that |spec| stores as `[in, out]` must not
/// be quantized. Some quantizers add a bias that |spec| lacks; it must be zero.
static Status checkMatrices(const TransformerSpec &spec, const QuantizedTensors &stored) {
  const WeightCatalog catalog(spec, *stored.tensors);
  const std::set<std::string> matrices(stored.matrices.begin(), stored.matrices.end());
  for (const WeightSpec &weight : spec.weights) {
    if (weight.kind != WeightSpec::Transpose || spec.weights[weight.operands[0]].kind != WeightSpec::Tensor)
      continue;
    for (const std::string &name : catalog.namesInFiles(spec.weights[weight.operands[0]]))
      if (matrices.count(name))
        return Status::error(stored.tensors->fileOf(name) + ": tensor '" + name + "': expected one that is not quantized, as " +
                             spec.architecture + " stores it with rows and columns exchanged");
  }
  return checkBiases(spec, listKnown(spec, *stored.tensors), stored.matrices, *stored.tensors);
}

/// Checks that biases in |tensors|, those of a GGUF file, that |spec| lacks are zero: llama.cpp adds every bias of a
/// file.
static Status checkGgufBiases(const TransformerSpec &spec, const TensorProvider &tensors) {
  const std::set<std::string> known = listKnown(spec, tensors);
  return checkBiases(spec, known, {known.begin(), known.end()}, tensors);
}

/// Returns the tensors of |source|: those in |opened| if it has them, else the stored ones. If none are stored,
/// generates them if the folder is a golden case with a seed or |source| asks for it, and fails otherwise. Also fails for
/// a malformed quantized matrix, and for a bias tensor with another value than 0 that |spec| does not read.
static Result<std::unique_ptr<TensorProvider>> findTensors(const ModelSource &source, const TransformerSpec &spec, OpenedConfig &opened) {
  const std::string &folder = source.folder;
  if (opened.tensors) {
    if (Status status = checkGgufBiases(spec, *opened.tensors); status.failed())
      return status;
    return std::move(opened.tensors);
  }
  const std::string transformer = findTransformerFolder(folder);
  if (!SafetensorsFolder::present(transformer)) {
    Result<std::optional<int64_t>> seed = generatedSeed(folder);
    if (!seed)
      return seed.status();
    if (*seed || source.generatesMissing)
      return generateTensors(spec.tensors(), seed->value_or(0), opened.config.file());
  }
  Result<QuantizedTensors> stored = openStored(transformer, opened.quantization);
  if (!stored)
    return stored.status();
  if (Status status = checkMatrices(spec, *stored); status.failed())
    return status;
  return joinModuleTensors(folder, std::move(stored->tensors));
}

bool attune::isModelSource(const std::string &path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) || isGgufFile(path);
}

ModelFiles attune::listModelFiles(const std::string &folder) {
  ModelFiles files;
  if (std::error_code ignored; !fs::is_directory(folder, ignored)) {
    files.settings = files.tensors = {folder};
    return files;
  }
  const std::string transformer = findTransformerFolder(folder);
  for (const char *name : {"config.json", "generation_config.json"})
    files.settings.push_back(inFolder(transformer, name));
  for (const std::string &name : text::textFileNames(folder))
    files.settings.push_back(inFolder(folder, name));
  files.tensors = SafetensorsFolder::listFiles(transformer);
  listModuleFiles(folder, files.settings, files.tensors);
  if (!SafetensorsFolder::present(transformer))
    files.tensors.push_back(inFolder(folder, caseName));
  return files;
}

/// Reads the configuration of |given|, sets the class that |given| chooses, and completes a config.json by
/// completeConfig; a GGUF file gives a complete one.
static Result<OpenedConfig> openConfig(const ModelSource &given) {
  ModelSource source = given;
  source.folder = findTransformerFolder(given.folder);
  if (isGgufFile(source.folder)) {
    Result<GgufModel> model = openGgufModel(source.folder);
    if (!model)
      return model.status();
    if (!source.architecture.empty())
      model->config.chooseClass(source.architecture);
    std::optional<OutputSpec> embedding;
    if (model->pooling)
      embedding = pooledEmbedding(*model->pooling);
    return OpenedConfig{std::move(model->config), std::nullopt, std::move(model->tensors), std::move(embedding)};
  }
  std::error_code ignored;
  if (fs::is_directory(source.folder, ignored) && !exists(inFolder(source.folder, "config.json")))
    if (std::string advice = adviseOnWeights(source.folder); !advice.empty())
      return Status::error(source.folder + ": expected config.json and model.safetensors, " + advice);
  Result<Config> config = Config::open(source.folder);
  if (!config)
    return config.status();
  Result<std::optional<QuantizationConfig>> quantization = readQuantizationConfig(*config);
  if (!quantization)
    return quantization.status();
  config->remove("quantization_config");
  if (!source.architecture.empty())
    config->chooseClass(source.architecture);
  OpenedConfig opened{std::move(*config), std::move(*quantization), nullptr, std::nullopt};
  if (!isIncomplete(opened.config))
    return opened;
  std::unique_ptr<TensorProvider> tensors;
  if (SafetensorsFolder::present(source.folder)) {
    Result<QuantizedTensors> stored = openStored(source.folder, opened.quantization);
    if (!stored)
      return stored.status();
    tensors = std::move(stored->tensors);
  }
  if (Status status = completeConfig(opened.config, tensors.get()); status.failed())
    return status;
  return opened;
}

/// Returns a warning if `auto_map` of |config| names Python code for models, but no class in `auto_map` has the name
/// |architecture| or that of the only class in `architectures`: such code may compute something else than the class
/// that is compiled. Returns an empty list otherwise.
static std::vector<std::string> warnOfCode(const Config &config, const std::string &architecture) {
  const Json *map = config.find("auto_map"), *classes = config.find("architectures");
  auto isKnown = [&](const std::string &name) { return name == architecture || (classes && *classes == Json::array({name})); };
  std::string code;
  if (map && map->is_object())
    for (const auto &[use, name] : map->items()) {
      if (use.rfind("AutoModel", 0) != 0 || !name.is_string())
        continue;
      code = name.get<std::string>();
      if (isKnown(code.substr(code.rfind('.') + 1)))
        return {};
    }
  if (code.empty())
    return {};
  return {config.file() + ": 'auto_map' names Python code, " + code + ", which is not run: the model is computed as " + architecture +
          " of transformers"};
}

ModelFiles attune::listAdapterFiles(const std::string &folder) {
  return {{inFolder(folder, LoraAdapter::configName)}, {inFolder(folder, LoraAdapter::tensorsName)}};
}

/// Returns the model that |config| describes, with the embedding that the modules of |folder| add to it.
static Result<TransformerSpec> readSpec(const std::string &folder, const Config &config) {
  Result<TransformerSpec> spec = readTransformerSpec(config);
  if (spec)
    if (Status status = declareEmbedding(folder, *spec); status.failed())
      return status;
  return spec;
}

Result<ModelFolder> attune::openModelFolder(const ModelSource &source) {
  const std::string &folder = source.folder;
  Result<OpenedConfig> opened = openConfig(source);
  if (!opened)
    return opened.status();
  Config &config = opened->config;
  Result<TransformerSpec> spec = readSpec(folder, config);
  if (!spec)
    return spec.status();
  std::optional<GenerationSettings> generation;
  if (spec->decoder && spec->decoder->cached) {
    Result<GenerationSettings> read = readGenerationSettings(config, *spec, findTransformerFolder(folder));
    if (!read)
      return read.status();
    generation = std::move(*read);
  }
  Result<std::unique_ptr<TensorProvider>> tensors = findTensors(source, *spec, *opened);
  if (!tensors)
    return tensors.status();
  std::vector<std::string> warnings;
  Result<bool> separates = mustSeparateTied(config, *spec, **tensors, warnings);
  if (!separates)
    return separates.status();
  if (*separates) {
    config.set("tie_word_embeddings", false);
    spec = readSpec(folder, config);
    if (!spec)
      return spec.status();
  }
  if (opened->embedding)
    spec->embedding = std::move(opened->embedding);
  if (std::string warning = warnOfUnreadTensors(*spec, **tensors); !warning.empty())
    warnings.push_back(std::move(warning));
  tensors = mergeAdapters(*spec, std::move(*tensors), source.adapters);
  if (!tensors)
    return tensors.status();
  const std::vector<std::string> ofCode = warnOfCode(config, spec->architecture);
  warnings.insert(warnings.end(), ofCode.begin(), ofCode.end());
  if (!spec->warning.empty())
    warnings.push_back(spec->warning);
  if (opened->quantization)
    warnings.insert(warnings.end(), opened->quantization->warnings.begin(), opened->quantization->warnings.end());
  if (std::string advice = adviseOnClass(config, *spec, **tensors); !advice.empty())
    warnings.push_back(std::move(advice));
  return ModelFolder{std::move(*spec), std::move(*tensors), std::move(generation), std::move(warnings)};
}

/// Copies the file |from| to a new file, which gets the name |to| when the caller commits it. Returns nullopt if both
/// names are of one file.
static Result<std::optional<OutputFile>> copyFile(const std::string &from, const std::string &to) {
  std::error_code ignored;
  if (fs::equivalent(from, to, ignored))
    return std::optional<OutputFile>();
  Result<MappedFile> source = MappedFile::open(from);
  if (!source)
    return source.status();
  Result<OutputFile> copy = OutputFile::createWithFolders(to);
  if (!copy)
    return copy.status();
  if (Status status = copy->write(source->data(), source->size()); status.failed())
    return status;
  return std::optional<OutputFile>(std::move(*copy));
}

/// Writes the tensors |specs| of |tensors| as f32, under the names that |nameOf| returns, to a new file with
/// |metadata|. The file gets the name |path| when the caller commits it.
static Result<OutputFile> writeWeights(const std::vector<TensorSpec> &specs, const std::function<std::string(const TensorSpec &)> &nameOf,
                                       const TensorProvider &tensors, const std::string &path,
                                       const std::map<std::string, std::string> &metadata, const Progress &progress) {
  constexpr int64_t chunk = 1 << 20;
  Result<OutputFile> file = OutputFile::createWithFolders(path);
  if (!file)
    return file.status();
  std::vector<TensorSpec> named = specs;
  for (TensorSpec &tensor : named)
    tensor.name = nameOf(tensor);
  Result<SafetensorsWriter> writer = SafetensorsWriter::create(std::move(*file), path, named, metadata);
  if (!writer)
    return writer.status();
  uint64_t done = 0, total = 0;
  for (const TensorSpec &spec : specs)
    total += uint64_t(elementCount(spec.shape).value_or(0)) * sizeof(float);
  std::vector<float> values;
  for (const TensorSpec &spec : specs) {
    int64_t elements = elementCount(spec.shape).value_or(0);
    for (int64_t begin = 0; begin < elements; begin += chunk) {
      values.resize(size_t(std::min(chunk, elements - begin)));
      if (Status status = tensors.read(spec.name, begin, int64_t(values.size()), values.data()); status.failed())
        return status;
      if (Status status = writer->write(values.data(), values.size() * sizeof(float)); status.failed())
        return status;
      done += values.size() * sizeof(float);
      if (progress)
        progress(done, total);
    }
  }
  return writer->release();
}

Status attune::initModelFolder(const ModelSource &source, const std::string &folder, int64_t seed, const Progress &progress) {
  const std::string &configFolder = source.folder;
  if (std::error_code error; fs::is_regular_file(configFolder, error))
    return Status::error(configFolder + ": expected a folder with config.json, got a file, whose weights need not be generated");
  Result<OpenedConfig> opened = openConfig(source);
  if (!opened)
    return opened.status();
  const Config &config = opened->config;
  if (opened->quantization)
    return Status::error(config.file() + ": 'quantization_config': expected no such setting, as generated weights are not quantized");
  Result<TransformerSpec> spec = readSpec(configFolder, config);
  if (!spec)
    return spec.status();
  const std::vector<TensorSpec> specs = spec->tensors();
  Result<std::unique_ptr<TensorProvider>> tensors = mergeAdapters(*spec, generateTensors(specs, seed, config.file()), source.adapters);
  if (!tensors)
    return tensors.status();
  // Each module of a sentence-transformers folder has its tensors in a file of its own.
  const fs::path transformer = fs::path(findTransformerFolder(configFolder)).lexically_relative(configFolder);
  std::map<std::string, std::vector<TensorSpec>> bySubfolder;
  for (const TensorSpec &tensor : specs) {
    std::string name = tensor.name, module = splitModuleFolder(configFolder, name);
    bySubfolder[module.empty() ? transformer.string() : module].push_back(tensor);
  }
  auto placeOf = [&](const std::string &subfolder) { return (fs::path(folder) / subfolder).lexically_normal(); };
  for (const auto &[subfolder, list] : bySubfolder) {
    const std::string prefix = subfolder == transformer.string() ? "" : subfolder + ".";
    if (Status status = checkReplaceable(placeOf(subfolder).string(), prefix); status.failed())
      return status;
  }
  // Gives config.json its name last. A folder without it is not a model, so a model has either all of its files or
  // none.
  std::vector<OutputFile> files;
  for (const auto &[subfolder, list] : bySubfolder) {
    auto nameOf = [&](const TensorSpec &tensor) {
      std::string name = tensor.name;
      splitModuleFolder(configFolder, name);
      return name;
    };
    Result<OutputFile> weights = writeWeights(list, nameOf, **tensors, (placeOf(subfolder) / "model.safetensors").string(),
                                              generatedMetadata(!source.adapters.empty()), progress);
    if (!weights)
      return weights.status();
    files.push_back(std::move(*weights));
  }
  std::vector<std::string> copied = text::textFileNames(configFolder), settings, modules;
  listModuleFiles(configFolder, settings, modules);
  for (const std::string &setting : settings)
    copied.push_back(fs::path(setting).lexically_relative(configFolder).string());
  for (const char *name : {"generation_config.json", "config.json"})
    copied.push_back((transformer / name).lexically_normal().string());
  for (const std::string &name : copied)
    if (std::string from = inFolder(configFolder, name); exists(from)) {
      Result<std::optional<OutputFile>> copy = copyFile(from, inFolder(folder, name));
      if (!copy)
        return copy.status();
      if (*copy)
        files.push_back(std::move(**copy));
    }
  std::vector<OutputFile *> together;
  for (OutputFile &file : files)
    together.push_back(&file);
  return OutputFile::commitTogether(together);
}
