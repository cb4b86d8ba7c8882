//===- GenerationConfig.cpp - Generation settings of a model folder --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/GenerationConfig.h"
#include "compiler/Import/families/Families.h"

#include <algorithm>
#include <filesystem>

using namespace attune;

namespace {

/// An id, or another integer setting, that the configuration class of a family in transformers sets if the file lacks
/// the key. Consecutive entries with the same family and key are one list.
struct FamilyId {
  const char *family, *key;
  int64_t id;
};

} // namespace

static constexpr FamilyId familyIds[] = {{"arcee", "bos_token_id", 128000},
                                         {"arcee", "eos_token_id", 128001},
                                         {"baichuan", "bos_token_id", 1},
                                         {"baichuan", "eos_token_id", 2},
                                         {"baichuan", "pad_token_id", 0},
                                         {"bart", "bos_token_id", 0},
                                         {"bart", "pad_token_id", 1},
                                         {"bart", "eos_token_id", 2},
                                         {"bart", "decoder_start_token_id", 2},
                                         {"bart", "forced_eos_token_id", 2},
                                         {"bert", "pad_token_id", 0},
                                         {"bert-generation", "pad_token_id", 0},
                                         {"bert-generation", "bos_token_id", 2},
                                         {"bert-generation", "eos_token_id", 1},
                                         {"biogpt", "bos_token_id", 0},
                                         {"biogpt", "pad_token_id", 1},
                                         {"biogpt", "eos_token_id", 2},
                                         {"blenderbot", "pad_token_id", 0},
                                         {"blenderbot", "bos_token_id", 1},
                                         {"blenderbot", "eos_token_id", 2},
                                         {"blenderbot", "decoder_start_token_id", 1},
                                         {"blenderbot", "forced_eos_token_id", 2},
                                         {"blenderbot", "encoder_no_repeat_ngram_size", 3},
                                         {"blenderbot-small", "pad_token_id", 0},
                                         {"blenderbot-small", "bos_token_id", 1},
                                         {"blenderbot-small", "eos_token_id", 2},
                                         {"blenderbot-small", "decoder_start_token_id", 1},
                                         {"blenderbot-small", "forced_eos_token_id", 2},
                                         {"bloom", "bos_token_id", 1},
                                         {"bloom", "eos_token_id", 2},
                                         {"camembert", "bos_token_id", 0},
                                         {"camembert", "pad_token_id", 1},
                                         {"camembert", "eos_token_id", 2},
                                         {"codegen", "bos_token_id", 50256},
                                         {"codegen", "eos_token_id", 50256},
                                         {"cohere", "bos_token_id", 5},
                                         {"cohere", "eos_token_id", 255001},
                                         {"cohere", "pad_token_id", 0},
                                         {"cohere2", "bos_token_id", 5},
                                         {"cohere2", "eos_token_id", 255001},
                                         {"cohere2", "pad_token_id", 0},
                                         {"data2vec-text", "bos_token_id", 0},
                                         {"data2vec-text", "pad_token_id", 1},
                                         {"data2vec-text", "eos_token_id", 2},
                                         {"deepseek_v2", "bos_token_id", 1},
                                         {"deepseek_v2", "eos_token_id", 2},
                                         {"deepseek_v3", "bos_token_id", 0},
                                         {"deepseek_v3", "eos_token_id", 1},
                                         {"electra", "pad_token_id", 0},
                                         {"ernie", "pad_token_id", 0},
                                         {"ernie4_5", "bos_token_id", 1},
                                         {"ernie4_5", "pad_token_id", 0},
                                         {"ernie4_5", "eos_token_id", 2},
                                         {"exaone", "bos_token_id", 0},
                                         {"exaone", "eos_token_id", 2},
                                         {"exaone4", "bos_token_id", 0},
                                         {"exaone4", "eos_token_id", 2},
                                         {"falcon", "bos_token_id", 11},
                                         {"falcon", "eos_token_id", 11},
                                         {"gemma", "bos_token_id", 2},
                                         {"gemma", "eos_token_id", 1},
                                         {"gemma", "pad_token_id", 0},
                                         {"gemma2", "bos_token_id", 2},
                                         {"gemma2", "eos_token_id", 1},
                                         {"gemma2", "pad_token_id", 0},
                                         {"gemma3_text", "bos_token_id", 2},
                                         {"gemma3_text", "eos_token_id", 1},
                                         {"gemma3_text", "pad_token_id", 0},
                                         {"glm", "pad_token_id", 151329},
                                         {"glm", "eos_token_id", 151329},
                                         {"glm", "eos_token_id", 151336},
                                         {"glm", "eos_token_id", 151338},
                                         {"glm4", "pad_token_id", 151329},
                                         {"glm4", "eos_token_id", 151329},
                                         {"glm4", "eos_token_id", 151336},
                                         {"glm4", "eos_token_id", 151338},
                                         {"gpt2", "bos_token_id", 50256},
                                         {"gpt2", "eos_token_id", 50256},
                                         {"gpt_bigcode", "bos_token_id", 50256},
                                         {"gpt_bigcode", "eos_token_id", 50256},
                                         {"gpt_neo", "bos_token_id", 50256},
                                         {"gpt_neo", "eos_token_id", 50256},
                                         {"gpt_neox", "bos_token_id", 0},
                                         {"gpt_neox", "eos_token_id", 2},
                                         {"gptj", "bos_token_id", 50256},
                                         {"gptj", "eos_token_id", 50256},
                                         {"granite", "bos_token_id", 1},
                                         {"granite", "eos_token_id", 2},
                                         {"granitemoe", "bos_token_id", 1},
                                         {"granitemoe", "eos_token_id", 2},
                                         {"granitemoeshared", "bos_token_id", 1},
                                         {"granitemoeshared", "eos_token_id", 2},
                                         {"helium", "bos_token_id", 1},
                                         {"helium", "pad_token_id", 3},
                                         {"helium", "eos_token_id", 2},
                                         {"hunyuan_v1_dense", "bos_token_id", 1},
                                         {"hunyuan_v1_dense", "pad_token_id", 0},
                                         {"hunyuan_v1_dense", "eos_token_id", 2},
                                         {"internlm2", "bos_token_id", 1},
                                         {"internlm2", "pad_token_id", 0},
                                         {"internlm2", "eos_token_id", 2},
                                         {"llama", "bos_token_id", 1},
                                         {"llama", "eos_token_id", 2},
                                         {"m2m_100", "bos_token_id", 0},
                                         {"m2m_100", "pad_token_id", 1},
                                         {"m2m_100", "eos_token_id", 2},
                                         {"m2m_100", "decoder_start_token_id", 2},
                                         {"marian", "pad_token_id", 58100},
                                         {"marian", "eos_token_id", 0},
                                         {"marian", "decoder_start_token_id", 58100},
                                         {"marian", "forced_eos_token_id", 0},
                                         {"mbart", "bos_token_id", 0},
                                         {"mbart", "pad_token_id", 1},
                                         {"mbart", "eos_token_id", 2},
                                         {"mbart", "forced_eos_token_id", 2},
                                         {"megatron-bert", "pad_token_id", 0},
                                         {"minicpm", "bos_token_id", 1},
                                         {"minicpm", "eos_token_id", 2},
                                         {"ministral", "bos_token_id", 1},
                                         {"ministral", "eos_token_id", 2},
                                         {"mistral", "bos_token_id", 1},
                                         {"mistral", "eos_token_id", 2},
                                         {"mixtral", "bos_token_id", 1},
                                         {"mixtral", "eos_token_id", 2},
                                         {"mt5", "pad_token_id", 0},
                                         {"mt5", "eos_token_id", 1},
                                         {"mt5", "decoder_start_token_id", 0},
                                         {"nemotron", "bos_token_id", 2},
                                         {"nemotron", "eos_token_id", 3},
                                         {"olmo", "eos_token_id", 50279},
                                         {"olmo", "pad_token_id", 1},
                                         {"olmo2", "eos_token_id", 50279},
                                         {"olmo2", "pad_token_id", 1},
                                         {"olmo3", "eos_token_id", 50279},
                                         {"olmo3", "pad_token_id", 1},
                                         {"olmoe", "pad_token_id", 1},
                                         {"olmoe", "eos_token_id", 50279},
                                         {"opt", "bos_token_id", 2},
                                         {"opt", "eos_token_id", 2},
                                         {"opt", "pad_token_id", 1},
                                         {"pegasus", "pad_token_id", 0},
                                         {"pegasus", "eos_token_id", 1},
                                         {"pegasus", "decoder_start_token_id", 0},
                                         {"pegasus", "forced_eos_token_id", 1},
                                         {"persimmon", "bos_token_id", 1},
                                         {"persimmon", "eos_token_id", 2},
                                         {"phi", "bos_token_id", 1},
                                         {"phi", "eos_token_id", 2},
                                         {"phi3", "bos_token_id", 1},
                                         {"phi3", "eos_token_id", 32000},
                                         {"phi3", "pad_token_id", 32000},
                                         {"rembert", "pad_token_id", 0},
                                         {"rembert", "bos_token_id", 312},
                                         {"rembert", "eos_token_id", 313},
                                         {"roberta", "bos_token_id", 0},
                                         {"roberta", "pad_token_id", 1},
                                         {"roberta", "eos_token_id", 2},
                                         {"roberta-prelayernorm", "bos_token_id", 0},
                                         {"roberta-prelayernorm", "pad_token_id", 1},
                                         {"roberta-prelayernorm", "eos_token_id", 2},
                                         {"roformer", "pad_token_id", 0},
                                         {"seed_oss", "bos_token_id", 0},
                                         {"seed_oss", "pad_token_id", 1},
                                         {"seed_oss", "eos_token_id", 2},
                                         {"smollm3", "bos_token_id", 128000},
                                         {"smollm3", "eos_token_id", 128001},
                                         {"smollm3", "pad_token_id", 128004},
                                         {"stablelm", "bos_token_id", 0},
                                         {"stablelm", "eos_token_id", 0},
                                         {"starcoder2", "bos_token_id", 50256},
                                         {"starcoder2", "eos_token_id", 50256},
                                         {"t5", "pad_token_id", 0},
                                         {"t5", "eos_token_id", 1},
                                         {"umt5", "pad_token_id", 0},
                                         {"umt5", "eos_token_id", 1},
                                         {"umt5", "decoder_start_token_id", 0},
                                         {"xglm", "bos_token_id", 0},
                                         {"xglm", "pad_token_id", 1},
                                         {"xglm", "eos_token_id", 2},
                                         {"xlm-roberta", "bos_token_id", 0},
                                         {"xlm-roberta", "pad_token_id", 1},
                                         {"xlm-roberta", "eos_token_id", 2},
                                         {"xlm-roberta-xl", "bos_token_id", 0},
                                         {"xlm-roberta-xl", "pad_token_id", 1},
                                         {"xlm-roberta-xl", "eos_token_id", 2}};

/// Sets in |settings| the numbers that familyIds has for |family|, except those whose keys |config| has. Leaves out a
/// number beyond the vocabulary: such an id would never occur.
static Status setFamilyIds(const Config &config, const std::string &family, GenerationSettings &settings) {
  const Json *size = config.find("vocab_size");
  auto counts = [&](const FamilyId &entry) {
    return family == entry.family && !config.find(entry.key) && !(size && size->is_number() && entry.id >= size->get<int64_t>());
  };
  for (const FamilyId *entry = std::begin(familyIds), *end = std::end(familyIds); entry != end;) {
    const std::string key = entry->key;
    Json ids = Json::array();
    for (const std::string of = entry->family; entry != end && of == entry->family && key == entry->key; ++entry)
      if (counts(*entry))
        ids.push_back(entry->id);
    if (!ids.empty())
      if (Status status = settings.set(key, ids.size() == 1 ? ids.front() : ids, config.file()); status.failed())
        return status;
  }
  return {};
}

/// Copies the generation settings that |config| has to |settings|.
static Status readAll(const Config &config, GenerationSettings &settings) {
  for (const std::string &name : GenerationSettings::names())
    if (const Json *value = config.find(name))
      if (Status status = settings.set(name, *value, config.file()); status.failed())
        return status;
  return {};
}

/// Sets the generation settings of |config| and, for keys that |config| lacks, those of the family's configuration
/// class in transformers.
static Status readModelConfig(const Config &config, const TransformerSpec &spec, GenerationSettings &settings) {
  if (Status status = setFamilyIds(config, spec.family, settings); status.failed())
    return status;
  if (Status status = readAll(config, settings); status.failed())
    return status;
  // In beam search, MarianMTModel never chooses the padding id; MarianForCausalLM, its decoder without encoder, may.
  if (auto pad = settings.values().find("pad_token_id"); spec.architecture == "MarianMTModel" && pad != settings.values().end())
    return settings.set("never_token_id", Json(pad->second), config.file());
  return {};
}

Result<GenerationSettings> attune::readGenerationSettings(const Config &config, const TransformerSpec &spec, const std::string &folder) {
  GenerationSettings settings;
  std::error_code ignored;
  bool hasOwn = std::filesystem::exists(std::filesystem::path(folder) / "generation_config.json", ignored);
  // transformers 4 reads the keys of generation_config.json over those of config.json. Version 5 reads
  // generation_config.json alone if it exists.
  bool merges = isOfVersion4(spec.family);
  if (!hasOwn || merges)
    if (Status status = readModelConfig(config, spec, settings); status.failed())
      return status;
  if (!hasOwn)
    return settings;
  Result<Config> own = Config::open(folder, "generation_config.json");
  if (!own)
    return own.status();
  if (Status status = readAll(*own, settings); status.failed())
    return status;
  return settings;
}
