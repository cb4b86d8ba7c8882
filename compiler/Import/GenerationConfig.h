//===- GenerationConfig.h - Generation settings of a model folder -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_GENERATIONCONFIG_H
#define ATTUNE_IMPORT_GENERATIONCONFIG_H

#include "compiler/Import/Config.h"
#include "compiler/Import/TransformerSpec.h"
#include "compiler/Support/GenerationSettings.h"

namespace attune {

/// Reads the generation settings of |folder|: generation_config.json or, without this file, |config| over the defaults
/// of transformers for the family of |spec|. For families of version 4 of the library all three count, in this order of
/// precedence. Fails if a setting has a wrong value; keeps a setting that is not implemented as a text
/// (GenerationSettings::set).
Result<GenerationSettings> readGenerationSettings(const Config &config, const TransformerSpec &spec, const std::string &folder);

} // namespace attune

#endif // ATTUNE_IMPORT_GENERATIONCONFIG_H
