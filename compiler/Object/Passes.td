//===- Passes.td - Passes that make entries callable from C -*- tablegen -*-==//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

include "mlir/Pass/PassBase.td"

def EntryWrappers : Pass<"attune-entry-wrappers", "::mlir::ModuleOp"> {
  let summary = "add the C functions of every entry";
  let description = [{
    For an entry `forward`, adds `attune_entry_forward(host, call)`, `attune_workspace_forward(dims, workers)`,
    `attune_flops_forward(dims, workers)` and, if it has `rt.kernel_work`, `attune_work_forward(dims, out)`, with the types of
    attune/abi.h:

    ```mlir
    func.func @forward(%x: memref<?x8xf32> {xfmr.input = …}, …, %workspace: memref<?xi8> {rt.role = #rt.role<workspace>}, …)
        attributes {xfmr.entry = …, xfmr.flops = …, rt.workspace = …}
    // becomes
    func.func private @forward(…)
    llvm.func @attune_entry_forward(%host: !llvm.ptr, %call: !llvm.ptr) -> i32    // unpacks %call and calls @forward
    llvm.func @attune_workspace_forward(%dims: !llvm.ptr, %workers: i64) -> i64
    llvm.func @attune_flops_forward(%dims: !llvm.ptr, %workers: i64) -> i64
    ```

    The formulas are removed from the entry. Expects `attune-plan-memory` done, and `attune-outline-parallel` or, with `device`,
    `attune-outline-launches`. With `device`, functions get as their host the host of the call and the first error of its
    launches, `!llvm.struct<(ptr, i32)>`; the C function of the entry returns that error. Leaves functions that are not
    entries alone. Numerics: exact.
  }];
  let options = [Option<"device", "device", "bool", "false", "kernels run on a device: entries return the first error of a launch">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect"];
}
