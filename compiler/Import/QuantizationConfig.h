//===- QuantizationConfig.h - How a folder's weights are quantized -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_QUANTIZATIONCONFIG_H
#define ATTUNE_IMPORT_QUANTIZATIONCONFIG_H

#include "compiler/Import/Config.h"
#include "compiler/Weights/QuantizedTensors.h"

#include <optional>

namespace attune {

/// The value of `quantization_config`.
struct QuantizationConfig {
  QuantizedFormat format;
  /// Warnings for the user about settings that are ignored, such as a quantization of caches.
  std::vector<std::string> warnings;
};

/// Reads `quantization_config` of |config|; returns nullopt if the key is absent, null or an empty object. Fails for a
/// method, a form of the files or a setting that is not implemented; the message names it.
Result<std::optional<QuantizationConfig>> readQuantizationConfig(const Config &config);

} // namespace attune

#endif // ATTUNE_IMPORT_QUANTIZATIONCONFIG_H
