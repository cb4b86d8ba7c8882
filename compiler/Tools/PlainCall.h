//===- PlainCall.h - A call by the plain path -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_PLAINCALL_H
#define ATTUNE_COMPILER_TOOLS_PLAINCALL_H

#include "compiler/Driver/CompileOptions.h"
#include "compiler/Plain/PlainSteps.h"
#include "compiler/Tools/Flags.h"

namespace attune {

/// The flags for a model and a call of it by the plain path: execution of the IR of a phase by the definitions of its
/// operations and MLIR's own lowerings, without passes of Attune (compiler/Plain).
struct PlainCall {
  CompileOptions compile;
  /// The path of a safetensors file with inputs, "" for none.
  std::string input;
  /// The rows of the input `input_ids`; empty for none.
  std::vector<std::vector<int64_t>> ids;
  /// The values of --steps, and the outputs that the call returns, all if empty.
  std::vector<std::string> steps, outputs;
  /// The compile flags as words, such as "--cpu=x86-64-v3", including those that a golden case adds.
  std::vector<std::string> words;

  /// Adds the flags that describe the call, and the compile flags.
  void addTo(FlagTable &flags);
  bool hasInputs() const { return !input.empty() || !ids.empty(); }
  /// Returns the inputs of the call: the tensors of the file, the rows of ids as a tensor, and the steps. Fails if
  /// there are no tensors, if the rows differ in length, or if a step is not a size of at least 1.
  Result<PlainInputs> readInputs() const;
  /// Returns the inputs of the golden case in the model's folder. Adds the adapters of the case to the call, and uses
  /// the pruned heads and the outputs of the case if flags have given none. Returns nullopt if the folder has no case.
  /// Fails if the case is a call of anything but `forward` or `incremental`, such as a generation.
  Result<std::optional<PlainInputs>> readCase();
  /// Appends to |words| the compile flags that |table| has parsed.
  void keepWords(const FlagTable &table);
  /// Returns the arguments with which `attune run` repeats the call on |inputs|: the tensors are read from the file
  /// |from|, the outputs are written to the file |to|.
  std::vector<std::string> repeat(const PlainInputs &inputs, const std::string &from, const std::string &to) const;
  /// Sets in |compile| the outputs and the entries that the call on |inputs| needs. Requests the tensors of |inputs| as
  /// inputs of the model unless |compile| requests inputs already.
  void request(const PlainInputs &inputs);
};

/// Fails if |options| ask for products of another type than f32, or for a weight format other than native: two settings
/// may round such operands or weights differently.
Status checkExactProducts(const CompileOptions &options);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_PLAINCALL_H
