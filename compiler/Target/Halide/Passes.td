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

    A `halide.tile` computes one tile of a kernel. Its attribute `description` defines the values of its destinations in
    the language of `compiler/Target/Halide/README.md`; the program `attune-halide-gen` compiles the description. In the
    example `%x` is the only input, `%n` the only scalar and `%d` the only destination. The call has these arguments, in
    this order:

    - the address of the first element of each input;
    - each scalar, converted to i32;
    - each dynamic stride, converted to i32, first those of the inputs, then those of the destinations;
    - the address of the first element of each destination.

    The attribute `strides` of the operation has the stride of each dimension of each input, then of each destination,
    in elements; a stride may be dynamic there. If it is static, the type of the buffer must have the same static
    stride, except in dimensions of the static size 1; otherwise the pass fails. It also fails if an input or a
    destination is not a memref with strides.

    The pass only declares the function. In the phase `llvm`, `linkHalideKernels` defines it: the function calls the
    kernel that `attune-halide-gen` has compiled from the description. Two tiles with the same `kernel` call the same
    function.

    Runs in the phase `vector` if the model is compiled with `--kernels=halide`. Leaves no `halide.tile`, and other
    operations as they are. **Numerics**: exact.
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

    A kernel is a function with `tile.kernel`. A task is one iteration of the kernel's parallel loop, the `scf.forall`,
    which stays. The operations of a task become one `halide.tile`, whose attribute `description` defines the values of
    its destinations in the language of `compiler/Target/Halide/README.md`. An inner loop over register tiles
    disappears, since Halide chooses its own tiles. Operations `halide.tile` whose descriptions differ only in the name
    of the kernel share one Halide kernel.

    A kernel whose operations have no description keeps them, for example a kernel with two parallel loops or with
    results that are not f32. A remark and the `note` of `tile.kernel` give the reason.

    Expects kernels on tensors in destination-passing style. Runs at the end of the phase `kernels` if the model is
    compiled with `--kernels=halide`. Leaves alone kernels with a `backend` in `tile.kernel`, and functions that are not
    kernels.

    **Numerics**: sums are added in another order, multiplications and additions may be fused or not, and transcendental
    functions have other approximations. So results differ by roundings from those of Attune's own kernels. With the
    setting `schedule=auto` (`--set`), the default, the code of a kernel assumes that no value is a NaN or an infinity;
    only a mask of attention may contain minus infinity, which counts as the lowest finite float. With `schedule=none`
    multiplications and additions are not fused.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect", "::attune::halide::HalideDialect",
                           "::mlir::affine::AffineDialect"];
}
