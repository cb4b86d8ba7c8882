//===- GenerationConfig.h - Generation settings of a model folder -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_GENERATIONCONFIG_H
#define ATTUNE_IMPORT_GENERATIONCONFIG_H

#include "compiler/Import/Config.h"
#include "compiler/Import/TransformerSpec.h"
#include "compiler/Support/GenerationSettings.h"

namespace attune {

/// Reads the generation settings of |folder|: those of generation_config.json if |folder| has this file, else those of
/// |config| and, for keys that |config| lacks, the defaults of transformers for the family of |spec|. In families that
/// follow transformers 4 (isOfVersion4), |config| and the defaults also give the settings that generation_config.json
/// lacks. Fails if a setting has a wrong value. A setting that is not implemented is no error here:
/// GenerationSettings::set keeps a text about it, with which attune_generate fails.
Result<GenerationSettings> readGenerationSettings(const Config &config, const TransformerSpec &spec, const std::string &folder);

} // namespace attune

#endif // ATTUNE_IMPORT_GENERATIONCONFIG_H
