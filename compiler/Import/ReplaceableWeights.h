//===- ReplaceableWeights.h - Weights that init may replace -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_IMPORT_REPLACEABLEWEIGHTS_H
#define ATTUNE_COMPILER_IMPORT_REPLACEABLEWEIGHTS_H

#include "compiler/Support/Status.h"

#include <map>
#include <string>

namespace attune {

/// Returns the metadata of a generated model.safetensors: "format", as in files of transformers, and with |hasAdapters|
/// a mark of generated weights, since after adapters are merged the values do not tell that they are generated.
std::map<std::string, std::string> generatedMetadata(bool hasAdapters);

/// Checks that |folder|, which gets a generated model.safetensors, has no weights but those that `attune init`
/// generated: none, or a model.safetensors that has the mark or whose values have the ranges of generated ones
/// (Generate.h). The values of a tensor were generated for the name |prefix| + its name in that file.
Status checkReplaceable(const std::string &folder, const std::string &prefix);

} // namespace attune

#endif // ATTUNE_COMPILER_IMPORT_REPLACEABLEWEIGHTS_H
