//===- Passes.td - Passes that make entries callable from C -*- tablegen -*-==//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

include "mlir/Pass/PassBase.td"

def EntryWrappers : Pass<"attune-entry-wrappers", "::mlir::ModuleOp"> {
  let summary = "add the C functions of every entry";
  let description = [{
    An entry is a function of the model that applications call, here `forward`. The runtime uses it through C functions
    with the types of attune/abi.h. `attune_entry_forward(host, call)` runs the entry. For given values of the dims
    (batch, length and so on), `attune_workspace_forward(dims, workers)` returns the bytes of scratch memory of a call,
    and `attune_flops_forward(dims, workers)` the operations of the matrix products of a call, two for each
    multiply-add. If the entry has `rt.kernel_work`, `attune_work_forward(dims, out)` stores an `attune_kernel_work` for
    each kernel: the runs of the kernel in a call of the entry, the operations of its matrix products, and the bytes of
    weights and tensors that it reads and writes. If the entry has `xfmr.gathers` and `xfmr.gather_bytes`, because the
    model is divided among processes, `attune_gathers_forward(dims, workers)` returns the number of all-gathers of a
    call, and `attune_gather_bytes_forward(dims, workers)` the bytes that a process receives from the others by these
    all-gathers.

    ```mlir
    func.func @forward(%x: memref<?x8xf32> {xfmr.input = …}, …,
                       %workspace: memref<?xi8> {rt.role = #rt.role<workspace>}, …)
        attributes {xfmr.entry = …, xfmr.flops = …, rt.workspace = …}
    // becomes
    func.func private @forward(…)
    llvm.func @attune_entry_forward(%host: !llvm.ptr, %call: !llvm.ptr) -> i32    // unpacks %call and calls @forward
    llvm.func @attune_workspace_forward(%dims: !llvm.ptr, %workers: i64) -> i64
    llvm.func @attune_flops_forward(%dims: !llvm.ptr, %workers: i64) -> i64
    ```

    All of these functions but `attune_entry_forward` evaluate formulas of the entry: `rt.workspace`, `xfmr.flops` and
    so on. The pass removes the formulas from the entry. A missing `rt.workspace` or `xfmr.flops` counts as 0. Without
    the option `device`, `attune_entry_forward` always returns 0. With `device`, kernels run on a GPU, and a launch, or
    the encoding of a TMA descriptor, can fail. `attune_entry_forward` then stores a pair, `!llvm.struct<(ptr, i32)>`,
    on the stack: the address of `attune_host`, the structure through which compiled code calls the runtime, and the
    first error of the call, initially 0. `@forward` gets the address of this pair as its host argument and passes it on
    to the functions that it calls, whose launches and TMA descriptors store their errors in it. When `@forward`
    returns, `attune_entry_forward` returns the error in the pair.

    Expects that `attune-plan-memory` has run and, after it, `attune-outline-parallel` or, with `device`,
    `attune-outline-launches`. It is an error if an argument of an entry is no input, output, cache or dim and has no
    `rt.role`, if an input or output is not a dense buffer, or if a formula has a symbol that is neither a dim of the
    entry nor `workers`. Leaves functions that are not entries alone. Numerics: exact.
  }];
  let options = [Option<"device", "device", "bool", "false",
                        "kernels run on a device: `attune_entry_E` of an entry E returns the first error of a launch "
                        "or of a TMA descriptor">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect"];
}
