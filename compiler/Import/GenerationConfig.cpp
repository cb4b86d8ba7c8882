//===- GenerationConfig.cpp - Generation settings of a model folder --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/GenerationConfig.h"

#include <filesystem>

using namespace attune;

/// Sets what |config| has of the settings.
static Status readAll(const Config &config, GenerationSettings &settings) {
  for (const std::string &name : GenerationSettings::names())
    if (const Json *value = config.find(name))
      if (Status status = settings.set(name, *value, config.file()); status.failed())
        return status;
  return {};
}

Result<GenerationSettings> attune::readGenerationSettings(const Config &config, const std::string &folder) {
  GenerationSettings settings;
  if (Status status = readAll(config, settings); status.failed())
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
