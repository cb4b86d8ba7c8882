//===- PlainLowering.cpp - From any phase to the llvm dialect -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Runs MLIR's own lowerings, and no pass of this project. Each lowering ignores operations that an earlier phase has
// lowered already, so one list of passes serves all phases. Sums keep the order of the IR: nothing is contracted or
// reassociated.
//
//===----------------------------------------------------------------------===//

#include "compiler/Plain/PlainLowering.h"
#include "compiler/Plain/PlainCalls.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace attune;

/// Returns true if an argument of a function, an operand or a result in |module| is a tensor.
static bool hasTensors(ModuleOp module) {
  WalkResult found = module.walk([](Operation *op) {
    auto isTensor = [](Type type) { return isa<TensorType>(type); };
    if (auto function = dyn_cast<func::FuncOp>(op))
      if (llvm::any_of(function.getArgumentTypes(), isTensor))
        return WalkResult::interrupt();
    return llvm::any_of(op->getOperandTypes(), isTensor) || llvm::any_of(op->getResultTypes(), isTensor) ? WalkResult::interrupt()
                                                                                                         : WalkResult::advance();
  });
  return found.wasInterrupted();
}

static void buildBufferization(OpPassManager &pm) {
  pm.nest<func::FuncOp>().addPass(createConvertElementwiseToLinalgPass());
  pm.addPass(bufferization::createEmptyTensorToAllocTensorPass());
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.functionBoundaryTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(options));
}

static void buildLoops(OpPassManager &pm) {
  pm.nest<func::FuncOp>().addPass(createForallToForLoopPass());
  pm.nest<func::FuncOp>().addPass(createConvertLinalgToLoopsPass());
}

/// Adds the pass that computes arithmetic on bf16, and conversions between bf16 and integers, in f32. It leaves
/// conversions between bf16 and f32, which a pass of buildLLVM expands.
static void buildEmulation(OpPassManager &pm) {
  arith::ArithEmulateUnsupportedFloatsOptions emulation;
  emulation.sourceTypeStrs = {"bf16"};
  emulation.targetTypeStr = "f32";
  pm.addPass(arith::createArithEmulateUnsupportedFloats(emulation));
}

/// Removes the fast-math flags of `arith.extf` and `arith.truncf`. The emulation of bf16 gives them the flag
/// `contract`, with which an `arith.extf` of an `arith.truncf` folds to the value before the rounding.
static void clearConversionFlags(ModuleOp module) {
  module.walk([](Operation *op) {
    auto none = arith::FastMathFlagsAttr::get(op->getContext(), arith::FastMathFlags::none);
    if (auto extension = dyn_cast<arith::ExtFOp>(op); extension && extension.getFastmathAttr())
      extension.setFastmathAttr(none);
    if (auto rounding = dyn_cast<arith::TruncFOp>(op); rounding && rounding.getFastmathAttr())
      rounding.setFastmathAttr(none);
  });
}

/// Returns true if |module| has an operation of the dialect |name|.
static bool hasDialect(ModuleOp module, StringRef name) {
  WalkResult found = module.walk(
      [&](Operation *op) { return op->getName().getDialectNamespace() == name ? WalkResult::interrupt() : WalkResult::advance(); });
  return found.wasInterrupted();
}

/// Adds the lowerings to the llvm dialect. |isX86| is true if the module has operations of the dialect `x86vector`.
static void buildLLVM(OpPassManager &pm, bool isX86) {
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  // Without this expansion, LLVM calls a library function for rounding to bf16 on a CPU without such an instruction.
  arith::ArithExpandOpsPassOptions expansion;
  expansion.includeBf16 = true;
  pm.addPass(arith::createArithExpandOpsPass(expansion));
  ConvertVectorToLLVMPassOptions vectors;
  vectors.x86Vector = isX86;
  pm.addPass(createConvertVectorToLLVMPass(vectors));
  pm.addPass(createArithToLLVMConversionPass());
  FinalizeMemRefToLLVMConversionPassOptions memory;
  memory.useGenericFunctions = true; // allocations become calls of functions of PlainMemory
  pm.addPass(createFinalizeMemRefToLLVMConversionPass(memory));
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

Status attune::lowerPlainly(ModuleOp module) {
  std::string message;
  ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error && message.empty())
      message = diagnostic.str();
    return success();
  });
  auto run = [&](llvm::function_ref<void(OpPassManager &)> build) {
    PassManager pm(module.getContext());
    pm.enableVerifier(false);
    build(pm);
    return pm.run(module);
  };
  bool lowered = !hasTensors(module) || succeeded(run(buildBufferization));
  lowered = lowered && succeeded(run(buildLoops)) && succeeded(run(buildEmulation));
  if (lowered) {
    clearConversionFlags(module);
    expandShapes(module);
  }
  lowered = lowered && succeeded(run([&](OpPassManager &pm) { buildLLVM(pm, hasDialect(module, "x86vector")); }));
  if (!lowered)
    return Status::error("the plain path cannot lower the module: " + (message.empty() ? "a pass of MLIR failed" : message));
  return {};
}
