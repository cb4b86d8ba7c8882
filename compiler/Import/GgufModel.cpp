//===- GgufModel.cpp - A GGUF file as a model folder ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// GgufArchitectures.h has for each architecture the names of tensors, the keys of metadata, and the conversions of
// tensors to undo. The result is the config.json and the tensors of the folder that the
// file was made from, as far as they decide what is computed.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/GgufModel.h"
#include "compiler/Import/GgufArchitectures.h"
#include "compiler/Support/FileKind.h"
#include "compiler/Weights/GgufTensors.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <charconv>
#include <cmath>
#include <set>

using namespace attune;
using namespace attune::gguf;

/// Keys that are in no table: keys that GgufImporter reads by code of their own, and keys that repeat others or concern
/// other uses of the model.
static constexpr llvm::StringRef otherKeys[] = {
    "attention.causal",
    "attention.value_length",
    "classifier.output_labels",
    "expert_count",
    "expert_gating_func",
    "expert_used_count",
    "expert_weights_norm",
    "expert_weights_scale",
    "pooling_type",
    "rope.dimension_count",
    "rope.scaling.attn_factor",
    "rope.scaling.factor",
    "rope.scaling.finetuned",
    "rope.scaling.original_context_length",
    "rope.scaling.type",
    "tensor_data_layout",
    "vocab_size",
};

/// Returns |value|. A float becomes the shortest decimal that rounds to it, because the converter has rounded a decimal
/// of config.json to 32 bits.
static Json unroundFloat(const Json &value) {
  if (!value.is_number_float())
    return value;
  char text[64];
  auto [end, error] = std::to_chars(text, text + sizeof(text), value.get<float>());
  double decimal = value.get<double>();
  if (error == std::errc())
    std::from_chars(text, end, decimal);
  return decimal;
}

namespace {

/// Builds the configuration of one file, and the names of its tensors in transformers.
class GgufImporter {
public:
  GgufImporter(const GgufFile &file, const Architecture &architecture)
      : file(file), architecture(architecture), prefix(std::string(architecture.name) + ".") {}

  Status run();

  Json config = Json::object();
  std::map<std::string, GgufSource> sources;
  std::optional<mlir::xfmr::PoolKind> pooling;

private:
  void keep(Status status) {
    if (!problem.failed())
      problem = std::move(status);
  }
  void fail(const std::string &key, const std::string &expected) {
    const Json *value = findJson(file.metadata(), key);
    keep(value ? jsonTypeError(file.path(), key, expected, *value)
               : Status::error(file.path() + ": '" + key + "': expected " + expected + ", but the key is missing"));
  }

  /// Returns the value of |key| with the prefix of the architecture, or null.
  const Json *find(const std::string &key) const { return findJson(file.metadata(), prefix + key); }
  /// The integer |key|, or |fallback| if it is absent.
  int64_t integer(const std::string &key, int64_t fallback) {
    const Json *value = find(key);
    if (!value)
      return fallback;
    Result<int64_t> read = jsonInteger(*value, file.path(), prefix + key, 0, INT64_MAX);
    if (read)
      return *read;
    keep(read.status());
    return fallback;
  }
  double number(const std::string &key, double fallback) {
    const Json *value = find(key);
    if (!value)
      return fallback;
    Result<double> read = jsonNumber(unroundFloat(*value), file.path(), prefix + key);
    if (read)
      return *read;
    keep(read.status());
    return fallback;
  }
  int64_t originalLength() { return integer("rope.scaling.original_context_length", integer("context_length", 0)); }
  const GgufTensor *tensor(const std::string &name) const {
    auto found = file.tensors().find(name);
    return found == file.tensors().end() ? nullptr : &found->second;
  }

  void readKeys();
  void readDefaults();
  void readExperts();
  void readTokens();
  void readPooling();
  void readRope();
  void readFactors();
  void readFamily();
  void nameTensor(const std::string &name);

  const GgufFile &file;
  const Architecture &architecture;
  std::string prefix;
  /// The number of components of a head, and of those that rotary embeddings rotate.
  int64_t headSize = 0, rotated = 0;
  Status problem;
};

} // namespace

void GgufImporter::readKeys() {
  config["model_type"] = architecture.modelType;
  config["architectures"] = Json::array({architecture.modelClass});
  std::set<std::string> known(std::begin(otherKeys), std::end(otherKeys));
  for (llvm::ArrayRef<KeyPair> keys : {architecture.ownKeys, architecture.keys})
    for (const KeyPair &key : keys) {
      known.insert(key.gguf);
      const Json *value = find(key.gguf);
      if (!value)
        continue;
      // A list has a value for each layer. The architectures here have one value for all layers.
      if (value->is_array())
        fail(prefix + key.gguf, "one number for all layers");
      config[key.reference] = unroundFloat(*value);
    }
  for (const auto &entry : file.metadata().items())
    if (llvm::StringRef key = entry.key(); key.consume_front(prefix) && !known.count(key.str()))
      fail(entry.key(), "no such key: what it changes is not implemented");
  const char *epsilon = architecture.isRotary() ? "attention.layer_norm_rms_epsilon" : "attention.layer_norm_epsilon";
  for (const char *key : {"block_count", "context_length", epsilon})
    if (!find(key))
      fail(prefix + key, "a number");
  const int64_t heads = integer("attention.head_count", 0), hidden = integer("embedding_length", 0);
  if (heads == 0 || hidden == 0)
    return fail(prefix + (heads == 0 ? "attention.head_count" : "embedding_length"), "a positive integer");
  headSize = integer("attention.key_length", hidden / heads);
  if (integer("attention.value_length", headSize) != headSize)
    fail(prefix + "attention.value_length", "the value of 'attention.key_length'");
  if (const Json *causal = find("attention.causal"); causal && *causal != (architecture.name != llvm::StringRef("bert")))
    fail(prefix + "attention.causal", architecture.name == llvm::StringRef("bert") ? "false" : "true");
  const GgufTensor *embeddings = tensor("token_embd.weight");
  if (!embeddings || embeddings->shape.size() != 2)
    return keep(Status::error(file.path() + ": tensor 'token_embd.weight': expected a matrix" + (embeddings ? "" : ", found none")));
  config["vocab_size"] = embeddings->shape[0];
  config["tie_word_embeddings"] = tensor("output.weight") == nullptr;
  if (architecture.isRotary())
    readDefaults();
  if (architecture.hasExperts())
    readExperts();
}

/// Adds keys to the configuration that the file lacks, with the defaults of GGUF, which differ from those of
/// transformers.
void GgufImporter::readDefaults() {
  config.emplace("num_key_value_heads", integer("attention.head_count", 0));
  config.emplace("head_dim", headSize);
  config.emplace("rope_theta", 10000.0);
}

/// Checks the keys of experts and sets those of the configuration that follow from the architecture. As in llama.cpp,
/// the architecture and no key says whether the shares of a token's experts add up to 1, and experts are as wide as
/// fits the feed-forward network of a token where the file has no width.
void GgufImporter::readExperts() {
  const llvm::StringRef type = architecture.modelType;
  const int64_t count = integer("expert_count", 0), chosen = integer("expert_used_count", 0);
  if (count == 0 || chosen == 0)
    return fail(prefix + (count == 0 ? "expert_count" : "expert_used_count"), "a positive integer");
  const bool normalized = architecture.experts == Experts::Normalized;
  if (const Json *value = find("expert_weights_norm"); value && *value != normalized)
    fail(prefix + "expert_weights_norm", normalized ? "true" : "false");
  if (double scale = number("expert_weights_scale", 1); scale != 0 && scale != 1)
    fail(prefix + "expert_weights_scale", "0 or 1, which stand for no factor");
  if (integer("expert_gating_func", 1) != 1)
    fail(prefix + "expert_gating_func", "1, the function softmax");
  if (type == "mixtral")
    return;
  config["norm_topk_prob"] = normalized;
  const int64_t features = integer("feed_forward_length", 0);
  // A width of 0 counts as absent.
  auto setWidth = [&](const char *key, const char *gguf, int64_t fallback) {
    if (integer(gguf, 0) != 0)
      return;
    if (fallback == 0)
      fail(prefix + gguf, "a positive integer, as 'feed_forward_length' is too small to imply one");
    config[key] = fallback;
  };
  if (type != "olmoe")
    setWidth("moe_intermediate_size", "expert_feed_forward_length", features / chosen);
  if (type == "qwen2_moe") {
    setWidth("shared_expert_intermediate_size", "expert_shared_feed_forward_length", features);
    config["qkv_bias"] = tensor("blk.0.attn_q.bias") != nullptr;
  }
}

/// Sets |pooling| by the key `pooling_type`. It stays empty for the types none (0), which is the default, and rank (4).
void GgufImporter::readPooling() {
  using mlir::xfmr::PoolKind;
  switch (integer("pooling_type", 0)) {
  case 0:
  case 4:
    return;
  case 1:
    pooling = PoolKind::Mean;
    return;
  case 2:
    pooling = PoolKind::Leading;
    return;
  case 3:
    pooling = PoolKind::Last;
    return;
  default:
    fail(prefix + "pooling_type", "a type in 0..4");
  }
}

/// Texts of tokens that end a turn of a chat or a text. llama.cpp knows them by their texts, because the metadata have
/// a single id of each kind.
static constexpr llvm::StringRef endTokens[] = {
    "<|eot_id|>", "<|eom_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>", "<|endoftext|>", "<|end_of_text|>", "<end_of_utterance>",
};

/// Sets the ids of special tokens in the configuration. `eos_token_id` also has the tokens that end a turn or a message
/// of a chat.
void GgufImporter::readTokens() {
  static constexpr KeyPair ids[] = {
      {"bos_token_id", "bos_token_id"}, {"padding_token_id", "pad_token_id"}, {"seperator_token_id", "sep_token_id"}};
  auto id = [&](const char *name) -> std::optional<int64_t> {
    const std::string key = std::string("tokenizer.ggml.") + name;
    const Json *value = findJson(file.metadata(), key);
    if (!value)
      return std::nullopt;
    Result<int64_t> read = jsonInteger(*value, file.path(), key, 0, UINT32_MAX);
    if (read)
      return *read;
    keep(read.status());
    return std::nullopt;
  };
  for (const KeyPair &pair : ids)
    if (std::optional<int64_t> value = id(pair.gguf))
      config[pair.reference] = *value;
  std::vector<int64_t> ends;
  for (const char *name : {"eos_token_id", "eot_token_id", "eom_token_id"})
    if (std::optional<int64_t> value = id(name); value && !llvm::is_contained(ends, *value))
      ends.push_back(*value);
  if (const Json *tokens = findJson(file.metadata(), "tokenizer.ggml.tokens"); tokens && tokens->is_array())
    for (size_t i = 0; i < tokens->size(); ++i)
      if (const Json &token = (*tokens)[i];
          token.is_string() && llvm::is_contained(endTokens, token.get_ref<const std::string &>()) && !llvm::is_contained(ends, int64_t(i)))
        ends.push_back(int64_t(i));
  if (ends.size() == 1)
    config["eos_token_id"] = ends.front();
  else if (!ends.empty())
    config["eos_token_id"] = ends;
}

void GgufImporter::readRope() {
  rotated = integer("rope.dimension_count", headSize);
  if (rotated != headSize) {
    if (architecture.name != llvm::StringRef("phi3") || rotated > headSize)
      return fail(prefix + "rope.dimension_count", std::to_string(headSize) + ", the features of a head");
    config["partial_rotary_factor"] = double(rotated) / double(headSize);
  }
  // Files written before this key existed may have a factor without a type; it is linear.
  const Json *type = find("rope.scaling.type");
  const std::string name = !type ? "linear" : type->is_string() ? type->get<std::string>() : "";
  double factor = number("rope.scaling.factor", 1);
  factor = factor == 0 ? 1 : factor;
  if (name == "linear" && factor != 1)
    config["rope_scaling"] = {{"rope_type", "linear"}, {"factor", factor}};
  else if (name == "yarn")
    config["rope_scaling"] = {{"rope_type", "yarn"}, {"factor", factor}, {"original_max_position_embeddings", originalLength()}};
  else if (name == "longrope" && factor != 1)
    fail(prefix + "rope.scaling.factor", "1, as the type is longrope");
  else if (name != "none" && name != "linear" && name != "longrope")
    fail(prefix + "rope.scaling.type", "one of none, linear, yarn, longrope");
}

/// Returns the |width| / 2 factors by which the type "llama3" with the constants of published models divides
/// frequencies, in float, as the converter stores them.
static std::vector<float> computeLlama3Factors(int64_t width, double base, double factor) {
  constexpr double low = 1, high = 4, original = 8192, turn = 2 * 3.14159265358979323846;
  std::vector<float> factors;
  for (int64_t i = 0; i < width; i += 2) {
    const double wavelength = turn * std::pow(base, double(i) / double(width));
    if (wavelength < original / high) {
      factors.push_back(1);
    } else if (wavelength > original / low) {
      factors.push_back(float(factor));
    } else {
      const double smooth = (original / wavelength - low) / (high - low);
      factors.push_back(float(1 / ((1 - smooth) / factor + smooth)));
    }
  }
  return factors;
}

/// Sets `rope_scaling` from tensors of factors that divide the frequencies of rotary embeddings, if there are any. For
/// "llama3", finds the parameter `factor` by comparing the tensor with the results of the formula for published values
/// of it. For "longrope", copies both lists. Records an error for other factors, a wrong length or a missing list.
void GgufImporter::readFactors() {
  auto read = [&](const char *name) {
    const GgufTensor *found = tensor(name);
    std::vector<float> values;
    if (!found)
      return values;
    if (found->shape != std::vector<int64_t>{rotated / 2}) {
      keep(Status::error(file.path() + ": tensor '" + name + "': expected " + std::to_string(rotated / 2) + " factors"));
      return values;
    }
    if (config.contains("rope_scaling"))
      fail(prefix + "rope.scaling.type", std::string("none or longrope, as the file has the tensor '") + name + "'");
    values.resize(size_t(rotated / 2));
    dequantizeGguf(found->type, found->data, 0, rotated / 2, values.data());
    return values;
  };
  const double attention = number("rope.scaling.attn_factor", 1);
  if (attention != 1 && !tensor("rope_factors_long.weight"))
    fail(prefix + "rope.scaling.attn_factor", "1, as the file has no factors of long sequences");
  if (std::vector<float> factors = read("rope_freqs.weight"); !factors.empty()) {
    const double base = number("rope.freq_base", 10000);
    for (double factor : {8.0, 32.0, 16.0, 4.0, 2.0}) {
      std::vector<float> expected = computeLlama3Factors(rotated, base, factor);
      if (!std::equal(factors.begin(), factors.end(), expected.begin(), [](float a, float b) { return std::fabs(a - b) <= 1e-5f * b; }))
        continue;
      config["rope_scaling"] = {{"rope_type", "llama3"},
                                {"factor", factor},
                                {"low_freq_factor", 1.0},
                                {"high_freq_factor", 4.0},
                                {"original_max_position_embeddings", 8192}};
      return;
    }
    keep(Status::error(file.path() + ": tensor 'rope_freqs.weight': expected the factors of the type 'llama3' with factor 2, 4, 8, 16 or "
                                     "32, low_freq_factor 1, high_freq_factor 4 and 8192 original positions"));
  }
  std::vector<float> longFactors = read("rope_factors_long.weight"), shortFactors = read("rope_factors_short.weight");
  if (longFactors.empty() != shortFactors.empty())
    keep(Status::error(file.path() + ": expected the tensors 'rope_factors_long.weight' and 'rope_factors_short.weight', got one of them"));
  if (longFactors.empty() || shortFactors.empty())
    return;
  config["rope_scaling"] = {{"rope_type", "longrope"}, {"long_factor", longFactors}, {"short_factor", shortFactors}};
  config["original_max_position_embeddings"] = originalLength();
  // The converter stores the factor that follows from both lengths, rounded. Another one is the model's own.
  const double original = double(originalLength()), ratio = double(integer("context_length", 0)) / original;
  const double implied = ratio > 1 && original > 1 ? std::sqrt(1 + std::log(ratio) / std::log(original)) : 1;
  if (find("rope.scaling.attn_factor") && std::fabs(attention - implied) > 1e-5 * implied)
    config["rope_scaling"]["attention_factor"] = attention;
}

/// Sets keys of the configuration that no key of the metadata gives: they follow from the architecture, its sizes or
/// its tensors.
void GgufImporter::readFamily() {
  const llvm::StringRef name = architecture.name;
  const int64_t layers = integer("block_count", 0), hidden = integer("embedding_length", 0), heads = integer("attention.head_count", 1);
  if ((name == "gemma3" || name == "phi3") && integer("attention.sliding_window", 0) == 0)
    config["sliding_window"] = nullptr;
  if (architecture.modelType == llvm::StringRef("llama")) {
    config["attention_bias"] = tensor("blk.0.attn_q.bias") != nullptr;
    config["mlp_bias"] = tensor("blk.0.ffn_gate.bias") != nullptr;
  } else if (name == "gemma2" || name == "gemma3") {
    // The largest models derive the scale of scores from hidden / heads, all others from the size of a head.
    const bool largest = layers == (name == "gemma2" ? 46 : 62);
    config["query_pre_attn_scalar"] = largest ? hidden / heads : headSize;
  } else if (name == "gpt2") {
    config["activation_function"] = "gelu_new";
  } else if (name == "bert") {
    const GgufTensor *types = tensor("token_types.weight");
    config["type_vocab_size"] = types ? types->shape[0] : 2;
  }
}

void GgufImporter::nameTensor(const std::string &name) {
  static constexpr llvm::StringRef factors[] = {"rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight"};
  if (llvm::is_contained(factors, name))
    return;
  auto [module, kind] = llvm::StringRef(name).rsplit('.');
  std::string layer, pattern = module.str();
  if (llvm::StringRef rest = module; rest.consume_front("blk.")) {
    auto [number, part] = rest.split('.');
    int64_t value;
    if (!number.getAsInteger(10, value)) {
      layer = number.str();
      pattern = ("blk.%." + part).str();
    }
  }
  const NamePair *pair = nullptr;
  for (llvm::ArrayRef<NamePair> names : {architecture.ownNames, architecture.names})
    for (const NamePair &entry : names)
      if (!pair && pattern == entry.gguf)
        pair = &entry;
  if (!pair || (kind != "weight" && (kind != "bias" || pattern == "output")))
    return keep(Status::error(file.path() + ": tensor '" + name + "': expected a tensor of the architecture '" + architecture.name +
                              "', which has none of this name"));
  GgufSource source;
  source.name = name;
  if (architecture.conversions & PairedRows && (pattern == "blk.%.attn_q" || pattern == "blk.%.attn_k")) {
    const int64_t heads = integer("attention.head_count", 1);
    source.pairedHeads = pattern == "blk.%.attn_q" ? heads : integer("attention.head_count_kv", heads);
  }
  if (architecture.conversions & NormsPlusOne && kind == "weight" && llvm::StringRef(pattern).ends_with("norm"))
    source.summand = -1;
  source.transposed =
      architecture.conversions & TransposedProjections && kind == "weight" && !layer.empty() && !llvm::StringRef(pattern).ends_with("norm");
  std::string reference = pair->reference;
  if (size_t place = reference.find('%'); place != std::string::npos)
    reference.replace(place, 1, layer);
  // The gate of the expert for all tokens is a vector in the file and a matrix of one row in transformers.
  source.isRow = pattern == "blk.%.ffn_gate_inp_shexp";
  const size_t place = reference.find('#');
  if (place == std::string::npos) {
    sources.emplace(reference + "." + kind.str(), std::move(source));
    return;
  }
  const std::vector<int64_t> &shape = tensor(name)->shape;
  const int64_t count = integer("expert_count", 0);
  if (shape.size() != 3 || shape[0] != count)
    return keep(Status::error(file.path() + ": tensor '" + name + "': expected a stack of " + std::to_string(count) +
                              " matrices, the number of experts, got shape " + shapeText(shape)));
  for (source.index = 0; source.index < count; ++source.index) {
    std::string expert = reference;
    sources.emplace(expert.replace(place, 1, std::to_string(source.index)) + "." + kind.str(), source);
  }
}

Status GgufImporter::run() {
  if (const Json *count = findJson(file.metadata(), "split.count"); count && *count != 0 && *count != 1)
    fail("split.count", "1: one file with all tensors; join the parts by llama-gguf-split --merge");
  readKeys();
  // The rest divides by the numbers of heads and features, which readKeys checks.
  if (problem.failed())
    return problem;
  readTokens();
  readPooling();
  if (architecture.isRotary())
    readRope();
  readFactors();
  readFamily();
  for (const auto &entry : file.tensors())
    nameTensor(entry.first);
  return problem;
}

Result<GgufModel> attune::openGgufModel(const std::string &path) {
  Result<GgufFile> opened = GgufFile::open(path);
  if (!opened)
    return opened.status();
  auto file = std::make_shared<const GgufFile>(std::move(*opened));
  const Json *value = findJson(file->metadata(), "general.architecture");
  const std::string name = value && value->is_string() ? value->get<std::string>() : "";
  const Json *experts = findJson(file->metadata(), name + ".expert_count");
  const bool hasExperts = experts && *experts != 0;
  const Architecture *architecture = nullptr;
  std::string known;
  llvm::StringRef last;
  for (const Architecture &entry : architectures()) {
    if (last != entry.name)
      known += (known.empty() ? "" : ", ") + std::string(entry.name);
    last = entry.name;
    if (name == entry.name && (!architecture || hasExperts == entry.hasExperts()))
      architecture = &entry;
  }
  if (!architecture)
    return jsonTypeError(path, "general.architecture", "one of " + known, value ? *value : Json());
  if (hasExperts && !architecture->hasExperts())
    return jsonTypeError(path, name + ".expert_count", "0, as experts of this architecture are not implemented", *experts);
  GgufImporter importer(*file, *architecture);
  if (Status status = importer.run(); status.failed())
    return status;
  Result<std::unique_ptr<TensorProvider>> tensors = openGgufTensors(file, importer.sources);
  if (!tensors)
    return tensors.status();
  return GgufModel{Config::create(path, std::move(importer.config)), std::move(*tensors), importer.pooling};
}
