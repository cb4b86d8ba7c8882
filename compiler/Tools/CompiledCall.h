//===- CompiledCall.h - Objects of a model, executed ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_COMPILEDCALL_H
#define ATTUNE_COMPILER_TOOLS_COMPILEDCALL_H

#include "compiler/Bisect/CodeSearch.h"
#include "compiler/Driver/LoadedModel.h"
#include "compiler/Support/TemporaryFolder.h"

namespace attune {

/// A compiled model that can be called. Its shared object and its weights are in a temporary folder.
class CompiledCall {
public:
  /// Compiles |model|, which was imported with |options| and |listener|. |options| and |listener| must outlive this
  /// object. If the model cannot be compiled to a shared object, as without a linker, the result has LLVM IR only, and
  /// calls fail. Calls use |threads| threads, 0 for the default.
  static Result<std::unique_ptr<CompiledCall>> create(const LoadedModel &model, const CompileOptions &options,
                                                      const CompileListener &listener, int64_t threads);

  /// Compiles |ir|, IR of the phase `dialect` whose weights are tensors of the folder of the same model, and executes
  /// it on |inputs|.
  Result<std::vector<OwnedTensor>> runAlone(mlir::ModuleOp ir, const PlainInputs &inputs) const;
  /// Returns the code of the model, valid as long as this object. The function `execute` of the code runs an object on
  /// |inputs|, which must outlive the code.
  const ModelCode &code(const PlainInputs &inputs);
  /// Returns the path of the weights file.
  std::string weightsPath() const { return folder.file("model.weights"); }

private:
  CompiledCall(TemporaryFolder folder, const CompileOptions &options, const CompileListener &listener, int64_t threads)
      : folder(std::move(folder)), options(options), listener(listener), threads(threads) {}
  /// Executes the shared object at |path| with the weights file at |weights|, in steps if |inputs| have steps.
  Result<std::vector<OwnedTensor>> executeShared(const std::string &path, const std::string &weights, const PlainInputs &inputs) const;
  Result<std::vector<OwnedTensor>> execute(const std::string &object, const PlainInputs &inputs) const;
  Result<std::vector<uint8_t>> readWeights() const;

  TemporaryFolder folder;
  const CompileOptions &options;
  const CompileListener &listener;
  int64_t threads;
  ModelCode compiled;
  /// The reason why there is no shared object; a success if there is one.
  Status problem;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_COMPILEDCALL_H
