//===- Passes.td - Passes for kernels by Halide -----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

include "mlir/Pass/PassBase.td"

def LowerHalideTiles : Pass<"attune-lower-halide-tiles", "::mlir::ModuleOp"> {
  let summary = "lower halide.tile to a call of its kernel";
  let description = [{
    ```mlir
    halide.tile "halide_scale" with(%n) ins(%x : memref<?x8xf32>) outs(%d : memref<?x8xf32>) {…}
    // becomes
    llvm.call @halide_scale(%px, %n32, %pd) : (!llvm.ptr, i32, !llvm.ptr) -> ()
    ```

    The arguments are the inputs, the scalars, the dynamic strides and the destinations. The function is only declared;
    linking adds it. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def SelectKernels : Pass<"attune-select-kernels", "::mlir::ModuleOp"> {
  let summary = "select the kernels whose tasks Halide computes, and describe them";
  let description = [{
    ```mlir
    func.func private @linear(…) attributes {tile.kernel = #tile.kernel<"linear 48 -> 48">} {
      scf.forall (%i, %j) … { %y = scf.for … { linalg.fill … linalg.generic … } }
    // becomes
    func.func private @linear(…) attributes {tile.kernel = #tile.kernel<"linear 48 -> 48", backend = "halide">} {
      scf.forall (%i, %j) … { %y = halide.tile "halide_linear" … }
    ```

    Expects the phase `kernels`. The parallel loop stays. The operations of a task become one description, with the loop over
    register tiles merged, since Halide chooses its own tiles. A kernel that cannot be described is not changed, with a remark
    that gives the reason.

    Numerics: sums have another order, products may be fused or not, and transcendental functions are Halide's, so results
    differ by roundings.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect", "::attune::halide::HalideDialect",
                           "::mlir::affine::AffineDialect"];
}
