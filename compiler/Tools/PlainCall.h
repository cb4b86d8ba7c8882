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
  /// A safetensors file with inputs, "" for none, and rows of the input `input_ids`.
  std::string input;
  std::vector<std::vector<int64_t>> ids;
  std::vector<std::string> steps, outputs;
  /// The flags of the compilation as words, such as "--cpu=x86-64-v3", including those that a golden case adds.
  std::vector<std::string> words;

  /// Adds the flags that describe the call, and those of compilations.
  void addTo(FlagTable &flags);
  bool hasInputs() const { return !input.empty() || !ids.empty(); }
  /// Returns the inputs of the call: the tensors of the file, rows of ids, and steps. Fails if there are no tensors.
  Result<PlainInputs> readInputs() const;
  /// Returns the inputs of the golden case in the model's folder, adds the adapters of the case, and sets its pruned
  /// heads and outputs where flags have given none. Returns nullopt if there is no case; fails if the case is a call of
  /// anything but `forward` and `incremental`, as a generation is.
  Result<std::optional<PlainInputs>> readCase();
  /// Appends to |words| the flags of the compilation that |table| has parsed.
  void keepWords(const FlagTable &table);
  /// Returns arguments of `attune run` for the same call on |inputs|, which are in the file |from|, with outputs in
  /// |to|.
  std::vector<std::string> repeat(const PlainInputs &inputs, const std::string &from, const std::string &to) const;
  /// Sets in |compile| the outputs and entries that the call on |inputs| needs and, unless flags request inputs, those
  /// of |inputs|.
  void request(const PlainInputs &inputs);
};

/// Returns an error if |options| ask for products of another type than f32 or for weights in a format: two settings may
/// round these otherwise.
Status checkExactProducts(const CompileOptions &options);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_PLAINCALL_H
