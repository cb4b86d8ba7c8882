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

    A `halide.tile` is the computation of one tile of a kernel. Its attribute `description` defines it in a language
    that the generator of Halide kernels reads; `%x` is its input, `%n` a scalar and `%d` its destination. The arguments
    of the call are the addresses of the inputs, the scalars and the strides that `strides` leaves dynamic as
    32-bit integers, and the addresses of the destinations. The function is only declared: Halide compiles it from the
    description, and the phase `llvm` links it. The attribute `strides` of the operation has the stride of each
    dimension of each buffer, in elements. Where it is static, a buffer whose type has another or a dynamic stride is an
    error, except in dimensions of size 1. Leaves no `halide.tile`. Numerics: exact.
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

    A kernel is a function with `tile.kernel`. A task is one iteration of a kernel's parallel loop; the loop stays. The
    operations of a task become one `halide.tile`, whose attribute `description` defines the values of the destinations
    in the language of `compiler/Target/Halide/README.md`. An inner loop over register tiles disappears, since Halide
    chooses its own tiles. Descriptions that differ only in the name share one Halide kernel. A kernel that cannot be
    described keeps its operations; a remark and the `note` of `tile.kernel` give the reason.

    Runs at the end of the phase `kernels` if the model is compiled with `--kernels=halide`. Leaves alone kernels with a
    `backend` in `tile.kernel`, and functions that are no kernels.

    Numerics: sums have another order, multiplications and additions may be fused or not, and transcendental functions
    are Halide's, so results differ by roundings from those of Attune's own kernels.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect", "::attune::halide::HalideDialect",
                           "::mlir::affine::AffineDialect"];
}
