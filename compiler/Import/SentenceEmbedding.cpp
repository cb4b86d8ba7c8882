//===- SentenceEmbedding.cpp - One vector of a text -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/SentenceEmbedding.h"
#include "compiler/Support/Safetensors.h"
#include "compiler/Support/SentenceModules.h"
#include "compiler/Support/Strings.h"
#include "compiler/Weights/JoinedTensors.h"
#include "compiler/Weights/TensorSources.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <filesystem>

using namespace attune;
using mlir::xfmr::Activation;
using mlir::xfmr::PoolKind;
namespace fs = std::filesystem;

/// The least length by which a vector is divided, as in torch.nn.functional.normalize.
static constexpr double kLeastNorm = 1e-12;
static constexpr int64_t kMostFeatures = 1 << 20;

/// Returns true if |module| is of a type that has tensors.
static bool hasTensors(const SentenceModule &module) { return module.type == "Dense" || module.type == "LayerNorm"; }

/// Returns the modules of |folder| behind the transformer; none if they cannot be read.
static std::vector<SentenceModule> listModules(const std::string &folder) {
  Result<std::vector<SentenceModule>> modules = readSentenceModules(folder);
  if (!modules || modules->empty())
    return {};
  return {modules->begin() + 1, modules->end()};
}

namespace {

/// Reads the modules of a folder behind the transformer, one after the other, into the steps of the output of `embed`.
class EmbeddingReader {
public:
  EmbeddingReader(std::string folder, TransformerSpec &spec, int64_t hidden) : folder(std::move(folder)), spec(spec), features(hidden) {}

  Status read(const SentenceModule &module);
  Result<OutputSpec> finish(const std::string &file) const;

private:
  Status readPooling(ConfigReader &reader, const std::vector<std::string> &keys);
  Status readDense(const std::string &path, ConfigReader &reader);
  Status readLayerNorm(const std::string &path, ConfigReader &reader);
  void addNormalize(const std::string &path);
  /// Records an error if |key| is present and not |features|, the number of features before the module.
  void expectFeatures(ConfigReader &reader, const char *key);
  /// Records an error if a module reads or writes anything but the embedding.
  void expectEmbedding(ConfigReader &reader);

  std::string folder;
  TransformerSpec &spec;
  int64_t features;
  bool pooled = false;
  std::vector<HeadStep> steps;
};

} // namespace

void EmbeddingReader::expectFeatures(ConfigReader &reader, const char *key) {
  if (reader.present(key) && reader.integer(key, features, {1, kMostFeatures}) != features)
    reader.fail(key, std::to_string(features) + ", the features before the module");
}

void EmbeddingReader::expectEmbedding(ConfigReader &reader) {
  for (const char *key : {"module_input_name", "module_output_name"})
    if (reader.present(key) && reader.string(key, embedOutput) != embedOutput)
      reader.fail(key, std::string("\"") + embedOutput + "\"");
}

Status EmbeddingReader::readPooling(ConfigReader &reader, const std::vector<std::string> &keys) {
  struct Mode {
    const char *name, *flag;
    PoolKind kind;
  };
  // If flags switch on several modes, their vectors are joined in this order.
  static constexpr Mode modes[] = {{"cls", "pooling_mode_cls_token", PoolKind::Leading},
                                   {"max", "pooling_mode_max_tokens", PoolKind::Max},
                                   {"mean", "pooling_mode_mean_tokens", PoolKind::Mean},
                                   {"mean_sqrt_len_tokens", "pooling_mode_mean_sqrt_len_tokens", PoolKind::MeanSqrtLength},
                                   {"weightedmean", "pooling_mode_weightedmean_tokens", PoolKind::WeightedMean},
                                   {"lasttoken", "pooling_mode_lasttoken", PoolKind::Last}};
  expectFeatures(reader, "embedding_dimension");
  expectFeatures(reader, "word_embedding_dimension");
  std::vector<PoolKind> kinds;
  if (reader.present("pooling_mode")) {
    for (const std::string &name : reader.words("pooling_mode")) {
      auto mode = llvm::find_if(modes, [&](const Mode &known) { return name == known.name; });
      if (mode == std::end(modes)) {
        reader.fail("pooling_mode",
                    "some of " + llvm::join(llvm::map_range(modes, [](const Mode &known) { return std::string(known.name); }), ", "));
        break;
      }
      kinds.push_back(mode->kind);
    }
  } else {
    for (const Mode &mode : modes)
      if (reader.flag(mode.flag, false))
        kinds.push_back(mode.kind);
    for (const std::string &key : keys)
      if (llvm::StringRef(key).starts_with("pooling_mode") && reader.present(key.c_str()) &&
          llvm::none_of(modes, [&](const Mode &known) { return key == known.flag; }))
        reader.fail(key.c_str(), "one of the keys " +
                                     llvm::join(llvm::map_range(modes, [](const Mode &known) { return std::string(known.flag); }), ", ") +
                                     " in its place");
  }
  // If no mode is chosen, sentence-transformers takes the mean.
  if (kinds.empty())
    kinds.push_back(PoolKind::Mean);
  spec.embeddingSkipsPrompt = !reader.flag("include_prompt", true);
  steps.push_back(poolsStep(kinds, "pooling"));
  features *= int64_t(kinds.size());
  pooled = true;
  return reader.status();
}

Status EmbeddingReader::readDense(const std::string &path, ConfigReader &reader) {
  static constexpr std::pair<const char *, Activation> activations[] = {
      {"Identity", Activation::None}, {"Tanh", Activation::Tanh},       {"GELU", Activation::Gelu},           {"ReLU", Activation::Relu},
      {"SiLU", Activation::Silu},     {"Sigmoid", Activation::Sigmoid}, {"LeakyReLU", Activation::LeakyRelu}, {"ReLU6", Activation::Relu6}};
  expectEmbedding(reader);
  expectFeatures(reader, "in_features");
  reader.reject("use_residual", "a residual around a dense module is not implemented");
  int64_t out = reader.integer("out_features", features, {1, kMostFeatures});
  bool bias = reader.flag("bias", true);
  std::string name = reader.string("activation_function", "torch.nn.modules.activation.Tanh");
  const auto *activation = reader.choose("activation_function", name.substr(name.rfind('.') + 1), activations);
  if (reader.status().failed())
    return reader.status();
  steps.push_back(linearStep(spec.linear(path + ".linear", features, out, bias), path));
  if (activation->second != Activation::None)
    steps.push_back(activationStep(activation->second, path + ".activation"));
  features = out;
  return {};
}

Status EmbeddingReader::readLayerNorm(const std::string &path, ConfigReader &reader) {
  expectFeatures(reader, "dimension");
  if (reader.status().failed())
    return reader.status();
  steps.push_back(normStep(spec.norm(path + ".norm", features, 1e-5), path));
  return {};
}

void EmbeddingReader::addNormalize(const std::string &path) {
  // x / |x| is the RMS norm x / sqrt(mean(x * x)) times 1 / sqrt(n), for n features.
  NormSpec norm;
  norm.weight = spec.fill(path + ".scale", {features}, 1 / std::sqrt(double(features)));
  norm.epsilon = kLeastNorm * kLeastNorm / double(features);
  steps.push_back(normStep(norm, path));
}

Status EmbeddingReader::read(const SentenceModule &module) {
  const std::string place = (fs::path(folder) / module.path).string();
  if (module.type == "Dropout")
    return {};
  static constexpr const char *known[] = {"Pooling", "Dense", "LayerNorm", "Normalize"};
  if (!llvm::is_contained(known, module.type))
    return Status::error(folder + "/" + sentenceModulesFile + ": expected modules of the types Pooling, Dense, LayerNorm, Normalize and " +
                         "Dropout behind the transformer, got \"" + module.type + "\"");
  if ((module.type == "Pooling") == pooled)
    return Status::error(folder + "/" + sentenceModulesFile + ": expected one Pooling, before other modules, got \"" + module.type + "\"" +
                         (pooled ? " behind it" : ""));
  std::error_code ignored;
  if (module.type == "Normalize" && !fs::exists(place + "/config.json", ignored)) {
    addNormalize(module.path.empty() ? "normalize" : module.path);
    return {};
  }
  if (module.path.empty())
    return Status::error(folder + "/" + sentenceModulesFile + ": expected a folder of its own for \"" + module.type +
                         "\", got the path \"\"");
  Result<Config> config = Config::open(place);
  if (!config)
    return config.status();
  ConfigReader reader(*config);
  if (module.type == "Pooling")
    return readPooling(reader, config->keys());
  if (module.type == "Dense")
    return readDense(module.path, reader);
  if (module.type == "LayerNorm")
    return readLayerNorm(module.path, reader);
  expectEmbedding(reader);
  addNormalize(module.path);
  return reader.status();
}

Result<OutputSpec> EmbeddingReader::finish(const std::string &file) const {
  if (!pooled)
    return Status::error(file + ": expected a module of the type Pooling, which is missing");
  OutputSpec output;
  output.name = embedOutput;
  output.steps = steps;
  return output;
}

/// Returns the stack whose tokens are pooled; null for models with two stacks that sentence-transformers does not load
/// as an encoder.
static const StackSpec *findPooledStack(const TransformerSpec &spec) {
  if (!spec.hasTwoStacks())
    return &spec.stack(spec.mainStack());
  // sentence-transformers loads only the encoder of these models.
  return llvm::is_contained({"t5", "mt5", "umt5"}, spec.family) ? &*spec.encoder : nullptr;
}

/// Checks that the transformer among the modules of |folder| gives the last hidden states of a text, and that a
/// `max_seq_length` is a positive integer.
static Status checkTransformerSettings(const std::string &folder) {
  Result<Json> settings = readTransformerSettings(folder);
  if (!settings)
    return settings.status();
  const std::string file = (fs::path(findTransformerFolder(folder)) / transformerSettingsFiles[0]).string();
  auto expect = [&](const Json &object, const std::string &prefix, const char *key, const char *expected) -> Status {
    const Json *given = findJson(object, key);
    return given && !given->is_null() && *given != expected ? jsonTypeError(file, prefix + key, expected, *given) : Status();
  };
  if (Status status = expect(*settings, "", "transformer_task", "feature-extraction"); status.failed())
    return status;
  if (const Json *length = findJson(*settings, "max_seq_length"); length && !length->is_null())
    if (!length->is_number() || length->get<double>() < 1 || std::floor(length->get<double>()) != length->get<double>())
      return jsonTypeError(file, "max_seq_length", "an integer of at least 1", *length);
  const Json *modalities = findJson(*settings, "modality_config"), *text = modalities ? findJson(*modalities, "text") : nullptr;
  if (modalities && !modalities->is_null() && !text)
    return Status::error(file + ": 'modality_config': expected the modality 'text', which is missing");
  if (!text)
    return {};
  if (Status status = expect(*text, "modality_config.text.", "method", "forward"); status.failed())
    return status;
  return expect(*text, "modality_config.text.", "method_output_name", "last_hidden_state");
}

OutputSpec attune::meanEmbedding() { return pooledEmbedding(PoolKind::Mean); }

OutputSpec attune::pooledEmbedding(PoolKind kind) {
  OutputSpec output;
  output.name = embedOutput;
  output.steps = {poolsStep({kind}, "pooling")};
  return output;
}

Status attune::declareEmbedding(const std::string &folder, TransformerSpec &spec) {
  Result<std::vector<SentenceModule>> modules = readSentenceModules(folder);
  if (!modules || modules->size() < 2)
    return modules ? Status() : modules.status();
  if (Status status = checkTransformerSettings(folder); status.failed())
    return status;
  const std::string promptsFile = (fs::path(folder) / sentenceConfigFile).string();
  Result<Json> prompts = readOptionalObject(promptsFile);
  if (!prompts)
    return prompts.status();
  if (Status status = checkPrompts(*prompts, promptsFile); status.failed())
    return status;
  const StackSpec *stack = findPooledStack(spec);
  if (!stack)
    return {};
  int64_t hidden = stack->finalProjection.weight == noWeight ? stack->hidden : spec.shapeOf(stack->finalProjection.weight)[0];
  EmbeddingReader reader(folder, spec, hidden);
  for (const SentenceModule &module : llvm::drop_begin(*modules))
    if (Status status = reader.read(module); status.failed())
      return status;
  Result<OutputSpec> output = reader.finish(folder + "/" + sentenceModulesFile);
  if (!output)
    return output.status();
  spec.embedding = std::move(*output);
  return {};
}

Result<TransformerSpec> attune::makeEmbeddingSpec(const TransformerSpec &spec) {
  const StackSpec *stack = findPooledStack(spec);
  if (!stack)
    return Status::error("'" + spec.architecture + "' has no embeddings of texts: expected an encoder or a decoder, got both");
  TransformerSpec result = spec;
  StackRole role = spec.hasTwoStacks() ? StackRole::Encoder : spec.mainStack();
  if (spec.hasTwoStacks()) {
    result.decoder.reset();
    result.shiftedIds.reset();
  }
  result.choices = false;
  result.classes = 0;
  result.outputs = {spec.embedding.value_or(meanEmbedding())};
  llvm::erase_if(result.inputs, [&](const InputSpec &input) {
    return input.stack != role || !llvm::is_contained({InputRole::TokenIds, InputRole::AttentionMask, InputRole::TokenTypes}, input.role);
  });
  if (llvm::none_of(result.inputs, [](const InputSpec &input) { return input.role == InputRole::TokenIds; }))
    return Status::error("'" + spec.architecture + "' has no embeddings of texts: expected the input 'input_ids', which it lacks");
  for (InputSpec &input : result.inputs)
    input.standard = true;
  if (spec.embeddingSkipsPrompt)
    result.inputs.push_back({"prompt_length", InputRole::PromptLength, std::max<int64_t>(stack->maxLength, 1), true, role});
  return result;
}

Result<std::unique_ptr<TensorProvider>> attune::joinModuleTensors(const std::string &folder, std::unique_ptr<TensorProvider> base) {
  std::vector<TensorPart> parts;
  for (const SentenceModule &module : listModules(folder)) {
    if (!hasTensors(module))
      continue;
    Result<std::unique_ptr<TensorProvider>> opened = openTensors((fs::path(folder) / module.path).string());
    if (!opened)
      return opened.status();
    parts.push_back({module.path + ".", std::move(*opened)});
  }
  return parts.empty() ? std::move(base) : joinTensors(std::move(base), std::move(parts));
}

std::string attune::splitModuleFolder(const std::string &folder, std::string &name) {
  for (const SentenceModule &module : listModules(folder))
    if (hasTensors(module) && startsWith(name, module.path + ".")) {
      name.erase(0, module.path.size() + 1);
      return module.path;
    }
  return "";
}

void attune::listModuleFiles(const std::string &folder, std::vector<std::string> &settings, std::vector<std::string> &tensors) {
  settings.push_back((fs::path(folder) / sentenceModulesFile).string());
  for (const SentenceModule &module : listModules(folder)) {
    const std::string place = (fs::path(folder) / module.path).string();
    settings.push_back(place + "/config.json");
    if (hasTensors(module)) {
      std::vector<std::string> files = SafetensorsFolder::listFiles(place);
      tensors.insert(tensors.end(), files.begin(), files.end());
    }
  }
}
