//===- PlainModel.h - IR of any phase, executed ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The plain path: executes the IR of a phase, slowly, without any code of the phases that follow it.
//
//     module -- replaceByCalls --> calls of reference functions, and dialects of MLIR
//            -- lowerPlainly   --> the llvm dialect
//            -- JIT, -O0       --> code of this process
//
// Weights come from evaluateWeight (WeightValues.h). The caller gives inputs by name.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PLAIN_PLAINMODEL_H
#define ATTUNE_COMPILER_PLAIN_PLAINMODEL_H

#include "compiler/Plain/OpCall.h"
#include "compiler/Plain/PlainRequest.h"
#include "compiler/Plain/PlainSignature.h"
#include "compiler/Plain/WeightValues.h"

namespace mlir {
class ExecutionEngine;
} // namespace mlir

namespace attune {

/// The options for executing a module.
struct PlainOptions {
  /// Computes with f64 in place of f32.
  bool wide = false;
  /// The byte that fills memory before the code writes it. An output that depends on this byte shows a missing store.
  uint8_t poison = 0xff;
  /// Runs the ranges of parallel loops from the last to the first, with two workers that alternate, so that iterations
  /// that depend on each other give other results. Only for the phases `target` and `llvm`.
  bool reverse = false;
  /// Called after each operation that has a reference function, with its operands and results.
  OpObserver observer;
  /// Shows calls of functions to |observer|, too, after they have returned.
  bool observesCalls = false;
  /// Called for each operation that has a reference function; may compute the operation in place of that function.
  OpSubstitute substitute;
  /// LLVM IR of the phase `llvm`. If not empty, it is executed, and the module only describes the weights.
  std::string llvmText;
};

/// A module that can be executed. It owns a clone of the module.
class PlainModel {
public:
  /// Compiles |module|, IR of the phases `import` to `target`. |signature| describes the entries of a module of the
  /// phase `target`, whose functions have lost the attributes, and of LLVM IR; it may be null for earlier phases. Fails
  /// if the module has operations that the plain path does not execute. The calibrated rows of |weights| must outlive
  /// the model.
  static Result<std::unique_ptr<PlainModel>> create(mlir::ModuleOp module, const PlainWeights &weights, const PlainOptions &options,
                                                    const PlainSignature *signature = nullptr);
  ~PlainModel();

  const PlainSignature &signature() const { return entries; }
  /// Runs an entry. Returns its outputs, F32 (F64 if wide) and I64, groups split into their members. |caches| is
  /// updated; it may be null for an entry without caches. Fails if the request does not fit the entry or an operation
  /// has a fault.
  Result<std::vector<OwnedTensor>> run(const PlainRequest &request, PlainCaches *caches = nullptr);
  /// Sets the byte that fills memory in later runs.
  void setPoison(uint8_t byte) { options.poison = byte; }

private:
  PlainModel() = default;
  /// Evaluates the weights that the module refers to or reads from memory.
  Status readWeights(const PlainWeights &given);
  /// Starts the JIT on |lowered|, a module of the llvm dialect, or on the LLVM IR of the options.
  Status startCode(mlir::ModuleOp lowered);

  PlainOptions options;
  PlainSignature entries;
  /// True if entries have the C interface of compiled objects.
  bool compiledInterface = false;
  mlir::OwningOpRef<mlir::ModuleOp> original;
  std::vector<std::unique_ptr<OpCall>> calls;
  FaultLog faults;
  std::vector<char> weights;
  std::unique_ptr<mlir::ExecutionEngine> engine;
};

} // namespace attune

#endif // ATTUNE_COMPILER_PLAIN_PLAINMODEL_H
