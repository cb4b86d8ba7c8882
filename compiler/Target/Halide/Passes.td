//===- Passes.td - Passes for kernels by Halide -----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TARGET_HALIDE_PASSES_TD
#define ATTUNE_TARGET_HALIDE_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerHalideTiles : Pass<"attune-lower-halide-tiles", "::mlir::ModuleOp"> {
  let summary = "halide.tile becomes a call of its kernel";
  let description = [{
    ```mlir
    halide.tile "halide_scale" with(%n) ins(%x : memref<?x8xf32>) outs(%d : memref<?x8xf32>) {…}
    // becomes
    llvm.call @halide_scale(%px, %n32, %pd) : (!llvm.ptr, i32, !llvm.ptr) -> ()
    ```

    Arguments are the inputs, the scalars, the strides that are not fixed, and the destinations. The function is declared only; linking adds it. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def SelectKernels : Pass<"attune-select-kernels", "::mlir::ModuleOp"> {
  let summary = "kernels whose tasks Halide computes";
  let description = [{
    ```mlir
    func.func private @linear(…) attributes {tile.kernel = #tile.kernel<"linear 48 -> 48">} {
      scf.forall (%i, %j) … { %y = scf.for … { linalg.fill … linalg.generic … } }
    // becomes
    func.func private @linear(…) attributes {tile.kernel = #tile.kernel<"linear 48 -> 48", backend = "halide">} {
      scf.forall (%i, %j) … { %y = halide.tile "halide_linear" … }
    ```

    Expects the phase `kernels`. The parallel loop stays; what a task computes becomes one description, with the loop over register tiles in it merged: tiles are
    for Halide to choose. A kernel that cannot be described stays as it is, with a remark that says why.

    Numerics: sums are joined in another order, products fused or not, and functions are Halide's: results differ by roundings.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect", "::attune::halide::HalideDialect", "::mlir::affine::AffineDialect"];
}

#endif // ATTUNE_TARGET_HALIDE_PASSES_TD
