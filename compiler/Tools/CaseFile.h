//===- CaseFile.h - Golden case folders -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A case folder holds a model, its inputs, the outputs a correct implementation gives, and case.json: what is called and with which
// tolerances.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_CASEFILE_H
#define ATTUNE_COMPILER_TOOLS_CASEFILE_H

#include "compiler/Support/Generate.h"
#include "compiler/Support/SafetensorsWriter.h"
#include "compiler/Tools/Compare.h"

#include <optional>

namespace attune {

/// The expectations of case.json for one output.
struct CaseOutput {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  Tolerance tolerance;
  /// Largest magnitude of the expected values.
  double maxAbs = 0;
  /// Sums over the whole tensor, compared with relative tolerance statsTolerance, when the expected file holds samples only.
  std::optional<TensorStats> stats;
  double statsTolerance = 0;
};

/// An input described by its generator.
struct GeneratedInput {
  TensorSpec spec;
  int64_t seed = 0;
  GeneratorRule rule;
};

/// A checked case.json.
class CaseFile {
public:
  /// Reads |path|, a case.json.
  static Result<CaseFile> read(const std::string &path);

  std::string path;
  /// "forward", "incremental", "generate".
  std::string function;
  /// Call arguments (an object).
  Json kwargs = Json::object();
  /// "0:1;1:0,2" (layer:heads), "" when nothing is pruned.
  std::string pruneHeads;
  /// Chunk sizes of an incremental call.
  std::vector<int64_t> steps;
  std::vector<CaseOutput> outputs;
  std::vector<GeneratedInput> generatedInputs;
  /// The seed of generated weights; nothing when the folder stores them.
  std::optional<int64_t> weightsSeed;

private:
  Status readCall(const Json &call);
  Status readOutput(const std::string &name, const Json &entry);
  Status readGeneratedInput(const std::string &name, const Json &entry);
};

/// The stored and the generated inputs of the case in |folder|.
Result<std::vector<OwnedTensor>> loadCaseInputs(const CaseFile &caseFile, const std::string &folder);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_CASEFILE_H
