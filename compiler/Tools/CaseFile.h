//===- CaseFile.h - Golden case folders -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A case folder holds a model, its inputs, the outputs of a correct implementation, and case.json, which describes the
// call and the tolerances.
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
  /// Largest magnitude of the expected values; 0 if case.json has none.
  double maxAbs = 0;
  /// Statistics of the whole expected tensor, for a case whose expected file holds only samples of it; nullopt if
  /// case.json has none. Their relative tolerance is statsTolerance.
  std::optional<TensorStats> stats;
  double statsTolerance = 0;
};

/// An input that the case does not store: its values, in F32, are computed from |seed| by |rule| (Generate.h).
struct GeneratedInput {
  TensorSpec spec;
  int64_t seed = 0;
  GeneratorRule rule;
};

/// The contents of a case.json, checked.
class CaseFile {
public:
  /// Reads |path|, a case.json. Of the outputs, only those that its list call.outputs names are kept, or all without a
  /// list.
  static Result<CaseFile> read(const std::string &path);

  std::string path;
  /// The call: "incremental" for tokens in chunks through the caches, "generate", or the name of an entry, such as
  /// "forward".
  std::string function;
  /// The arguments of the call by name, an object. Only a call of "generate" reads them.
  Json kwargs = Json::object();
  /// Heads to prune as "LAYER:HEADS", such as "0:1;1:0,2"; "" if none are.
  std::string pruneHeads;
  /// Adapters of the weights, paths of folders relative to the case folder.
  std::vector<std::string> adapters;
  /// The sizes, in tokens, of the chunks of an incremental call.
  std::vector<int64_t> steps;
  std::vector<CaseOutput> outputs;
  std::vector<GeneratedInput> generatedInputs;
  /// The seed of generated weights; nullopt if the folder stores weights.
  std::optional<int64_t> weightsSeed;

private:
  Status readCall(const Json &call);
  Status readOutput(const std::string &name, const Json &entry);
  Status readGeneratedInput(const std::string &name, const Json &entry);
};

/// Loads the inputs that |folder| stores and generates the others of |caseFile|. Fails if inputs.safetensors is
/// missing, unless there are generated inputs.
Result<std::vector<OwnedTensor>> loadCaseInputs(const CaseFile &caseFile, const std::string &folder);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_CASEFILE_H
