//===- PlainModel.h - IR of any phase, executed ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The plain path: executes the IR of a phase, slowly, without any code of the later phases.
//
//     module -- replaceByCalls --> calls of reference functions, and dialects of MLIR
//            -- lowerPlainly   --> the llvm dialect
//            -- JIT, -O0       --> code of this process
//
// evaluateWeight (WeightValues.h) computes the weights. The caller gives the inputs by name.
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
  /// The byte that fills outputs and allocated memory before the code writes them. If an output depends on this byte,
  /// the code lacks a store.
  uint8_t poison = 0xff;
  /// Runs the ranges of parallel loops from the last to the first, with two workers that alternate. An output that this
  /// changes shows iterations that depend on each other. Only for the phases `target` and `llvm`.
  bool reverse = false;
  /// Called after the execution of each operation that has a reference function, with its operands and results.
  OpObserver observer;
  /// If true, |observer| is also called after each `func.call` whose types the plain path supports.
  bool observesCalls = false;
  /// Called before the execution of each operation that has a reference function; may compute the operation in place of
  /// that function.
  OpSubstitute substitute;
  /// LLVM IR of the phase `llvm`. If it is not empty, PlainModel executes this IR, and its module only describes the
  /// weights.
  std::string llvmText;
};

/// A module that can be executed. This class owns a clone of the module.
class PlainModel {
public:
  /// Compiles |module|, IR of the phases `import` to `target`, or PlainOptions::llvmText. |signature| describes the
  /// entries. It is required for a module of the phase `target`, whose functions have lost the attributes of entries,
  /// and for LLVM IR. It is ignored for earlier phases and may then be null. Fails if the module has operations that
  /// the plain path does not execute, or if a weight cannot be computed. The calibrated rows of |weights| must outlive
  /// the model.
  static Result<std::unique_ptr<PlainModel>> create(mlir::ModuleOp module, const PlainWeights &weights, const PlainOptions &options,
                                                    const PlainSignature *signature = nullptr);
  ~PlainModel();

  const PlainSignature &signature() const { return entries; }
  /// Runs the entry that |request| names. Returns its outputs in the order of the C API, each group of outputs split
  /// into its members. Outputs of f32 have the type F32, or F64 with PlainOptions::wide. Updates |caches|, which may be
  /// null for an entry without caches. Fails if |request| does not fit the entry or an operation records a fault.
  Result<std::vector<OwnedTensor>> run(const PlainRequest &request, PlainCaches *caches = nullptr);
  /// Sets PlainOptions::poison for later runs.
  void setPoison(uint8_t byte) { options.poison = byte; }

private:
  PlainModel() = default;
  /// Computes the weights that the module refers to (`xfmr.weight_ref`), and those that it reads from the memory of the
  /// packed weights.
  Status readWeights(const PlainWeights &given);
  /// Starts the JIT on |lowered|, a module of the llvm dialect, or on PlainOptions::llvmText if that is not empty.
  Status startCode(mlir::ModuleOp lowered);

  PlainOptions options;
  PlainSignature entries;
  /// True if entries are functions of the type attune_entry_fn (attune/abi.h), as in compiled objects.
  bool compiledInterface = false;
  mlir::OwningOpRef<mlir::ModuleOp> original;
  std::vector<std::unique_ptr<OpCall>> calls;
  FaultLog faults;
  std::vector<char> weights;
  std::unique_ptr<mlir::ExecutionEngine> engine;
};

} // namespace attune

#endif // ATTUNE_COMPILER_PLAIN_PLAINMODEL_H
