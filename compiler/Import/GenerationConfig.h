//===- GenerationConfig.h - Generation settings of a model folder -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_GENERATIONCONFIG_H
#define ATTUNE_IMPORT_GENERATIONCONFIG_H

#include "compiler/Import/Config.h"
#include "compiler/Import/TransformerSpec.h"
#include "compiler/Support/GenerationSettings.h"

namespace attune {

/// Reads the settings of |folder|: those of generation_config.json, or, without this file, those of |config| over those that the reference
/// library has for the family of |spec|. Families of version 4 of the library have all three, the first over the others. Errors are those
/// of single settings; a setting that is not implemented is kept as a text.
Result<GenerationSettings> readGenerationSettings(const Config &config, const TransformerSpec &spec, const std::string &folder);

} // namespace attune

#endif // ATTUNE_IMPORT_GENERATIONCONFIG_H
