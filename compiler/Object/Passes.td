//===- Passes.td - Passes that make entries callable from C -*- tablegen -*-==//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

include "mlir/Pass/PassBase.td"

def EntryWrappers : Pass<"attune-entry-wrappers", "::mlir::ModuleOp"> {
  let summary = "add the C functions of every entry";
  let description = [{
    An entry is a function of the model that applications call, here `forward`. The runtime calls it by C functions with
    the types of attune/abi.h: `attune_entry_forward(host, call)` runs it; `attune_workspace_forward(dims, workers)`
    returns the bytes of scratch memory of a call, and `attune_flops_forward(dims, workers)` the operations of its
    matrix products, two for each multiply-add, for given values of the dims (batch, length and so on). If the entry has
    `rt.kernel_work`, `attune_work_forward(dims, out)` stores an `attune_kernel_work` for each kernel: its runs in a
    call of the entry, the operations of its matrix products, and the bytes of weights and tensors that it reads and
    writes. If the entry has `xfmr.gathers`, because the model is divided among processes,
    `attune_gathers_forward(dims, workers)` returns the number of all-gathers of a call, and
    `attune_gather_bytes_forward(dims, workers)` the bytes that a process receives by them from the others.

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

    All of these but `attune_entry_forward` evaluate formulas, `rt.workspace`, `xfmr.flops` and so on, which the pass
    removes from the entry; without `rt.workspace` or `xfmr.flops` the function returns 0. Without the option `device`,
    `attune_entry_forward` always returns 0. With it, kernels run on a GPU, and a launch can fail. Then
    `attune_entry_forward` stores a `!llvm.struct<(ptr, i32)>` on the stack: the address of the host, the structure by
    which compiled code calls the runtime, and the first error of the call, at first 0. `@forward` gets the address of
    this pair as its host argument and passes it on to the functions that it calls. When `@forward` returns,
    `attune_entry_forward` returns the error.

    Expects `attune-plan-memory` done, and `attune-outline-parallel` or, with `device`, `attune-outline-launches`. An
    argument of an entry that is no input, output, cache or dim and has no `rt.role` is an error. Leaves functions that
    are not entries alone. Numerics: exact.
  }];
  let options = [Option<"device", "device", "bool", "false",
                        "kernels run on a device: the C functions of entries return the first error of a launch">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect"];
}
