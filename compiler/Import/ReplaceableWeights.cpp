//===- ReplaceableWeights.cpp - Weights that init may replace -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/ReplaceableWeights.h"
#include "compiler/Support/Generate.h"
#include "compiler/Support/Safetensors.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <vector>

using namespace attune;
namespace fs = std::filesystem;

/// The metadata key of a file that has generated weights with merged adapters.
static constexpr const char *kAdaptersKey = "attune.init";

std::map<std::string, std::string> attune::generatedMetadata(bool hasAdapters) {
  std::map<std::string, std::string> metadata = {{"format", "pt"}};
  if (hasAdapters)
    metadata[kAdaptersKey] = "with adapters";
  return metadata;
}

/// Returns true if |file| has the mark of kAdaptersKey, or if its tensors are f32 and uniform in the ranges that
/// generatorRule gives for |prefix| + name and the shape. Trained gains, biases and matrices leave these ranges. Looks
/// at the first 4096 values of each tensor.
static bool areGenerated(const SafetensorsFile &file, const std::string &prefix) {
  constexpr int64_t most = 4096;
  if (file.metadata().count(kAdaptersKey))
    return true;
  double distances = 0, count = 0;
  for (const auto &[name, tensor] : file.tensors()) {
    if (tensor.dtype != DType::F32)
      return false;
    const GeneratorRule rule = generatorRule(prefix + name, tensor.shape);
    const int64_t length = std::min(most, tensor.elements);
    for (int64_t i = 0; i < length; ++i) {
      float value;
      std::memcpy(&value, tensor.data + i * sizeof(float), sizeof(float));
      const double distance = std::fabs(value - rule.offset) / rule.halfWidth;
      if (!(distance <= 1 + 1e-6))
        return false;
      distances += distance;
    }
    count += static_cast<double>(length);
  }
  // For generated values, the mean distance from the middle of the range, in half widths, is a half, with a standard
  // deviation of 0.29 / sqrt(count).
  return count > 0 && std::fabs(distances / count - 0.5) < 0.1 + 1 / std::sqrt(count);
}

/// Returns true if transformers may read weights from a file called |name|.
static bool isWeightsName(llvm::StringRef name) {
  if (name.starts_with("model"))
    return name.ends_with(".safetensors") || name.ends_with(".safetensors.index.json");
  return name.starts_with("pytorch_model") && (name.ends_with(".bin") || name.ends_with(".bin.index.json"));
}

Status attune::checkReplaceable(const std::string &folder, const std::string &prefix) {
  std::error_code error;
  std::vector<fs::path> found;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (isWeightsName(it->path().filename().string()))
      found.push_back(it->path());
  std::sort(found.begin(), found.end());
  for (const fs::path &path : found) {
    if (path.filename() == "model.safetensors")
      if (Result<SafetensorsFile> file = SafetensorsFile::open(path.string()); file && areGenerated(*file, prefix))
        continue;
    return Status::error(path.string() + ": expected a folder without weights, or with weights that init generated, got others, " +
                         "which are not replaced");
  }
  return {};
}
