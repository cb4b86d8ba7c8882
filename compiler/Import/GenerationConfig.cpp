//===- GenerationConfig.cpp - Generation settings of a model folder --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/GenerationConfig.h"

#include <filesystem>

using namespace attune;

namespace {

/// An id that the reference library's configuration class of a family has where the file lacks the key.
struct FamilyId {
  const char *family, *key;
  int64_t id;
};

} // namespace

static constexpr FamilyId familyIds[] = {{"bart", "bos_token_id", 0},
                                         {"bart", "pad_token_id", 1},
                                         {"bart", "eos_token_id", 2},
                                         {"bart", "decoder_start_token_id", 2},
                                         {"bart", "forced_eos_token_id", 2},
                                         {"bert", "pad_token_id", 0},
                                         {"gpt2", "bos_token_id", 50256},
                                         {"gpt2", "eos_token_id", 50256},
                                         {"llama", "bos_token_id", 1},
                                         {"llama", "eos_token_id", 2},
                                         {"marian", "pad_token_id", 58100},
                                         {"marian", "eos_token_id", 0},
                                         {"marian", "decoder_start_token_id", 58100},
                                         {"marian", "forced_eos_token_id", 0},
                                         {"t5", "pad_token_id", 0},
                                         {"t5", "eos_token_id", 1}};

/// Sets what the family's configuration class has of its own. An id beyond a smaller vocabulary would never come up.
static Status setFamilyIds(const Config &config, const std::string &family, GenerationSettings &settings) {
  const Json *size = config.find("vocab_size");
  for (const FamilyId &entry : familyIds)
    if (family == entry.family && !config.find(entry.key) && !(size && size->is_number() && entry.id >= size->get<int64_t>()))
      if (Status status = settings.set(entry.key, entry.id, config.file()); status.failed())
        return status;
  return {};
}

/// Sets what |config| has of the settings.
static Status readAll(const Config &config, GenerationSettings &settings) {
  for (const std::string &name : GenerationSettings::names())
    if (const Json *value = config.find(name))
      if (Status status = settings.set(name, *value, config.file()); status.failed())
        return status;
  return {};
}

Result<GenerationSettings> attune::readGenerationSettings(const Config &config, const TransformerSpec &spec, const std::string &folder) {
  GenerationSettings settings;
  if (Status status = setFamilyIds(config, spec.family, settings); status.failed())
    return status;
  if (Status status = readAll(config, settings); status.failed())
    return status;
  // The beam search of Marian's translator, not of its decoder alone, leaves padding out of the probabilities.
  if (auto pad = settings.values().find("pad_token_id"); spec.architecture == "MarianMTModel" && pad != settings.values().end())
    if (Status status = settings.set("never_token_id", Json(pad->second), config.file()); status.failed())
      return status;
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::path(folder) / "generation_config.json", ignored))
    return settings;
  Result<Config> own = Config::open(folder, "generation_config.json");
  if (!own)
    return own.status();
  if (Status status = readAll(*own, settings); status.failed())
    return status;
  return settings;
}
