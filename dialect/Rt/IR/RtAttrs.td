//===- RtAttrs.td - Attributes of functions and of parallel loops -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef RT_ATTRS_TD
#define RT_ATTRS_TD

include "dialect/Rt/IR/RtDialect.td"
include "mlir/IR/EnumAttr.td"

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

def Rt_Role : I32EnumAttr<"Role", "the meaning of an argument that is neither input nor output", [
    I32EnumAttrCase<"Host", 0, "host">, I32EnumAttrCase<"Weights", 1, "weights">, I32EnumAttrCase<"Workspace", 2, "workspace">,
    I32EnumAttrCase<"Workers", 3, "workers">]> {
  let cppNamespace = "::mlir::rt";
  let genSpecializedAttr = 0;
}
def Rt_RoleAttr : EnumAttr<Rt_Dialect, Rt_Role, "role"> {
  let summary = "the meaning of an argument that is neither input nor output";
  let description = [{
    Stands as `rt.role` on an argument of a function, each role on at most one argument. `host` is an `!llvm.ptr` to the
    `attune_host` of the runtime. For a GPU the pointer is to a structure instead, which has a pointer to `attune_host`
    and the first error of the call. `weights` is the data of the weights file and `workspace` the memory of the call, a
    `memref<?xi8>` each. `workers` is the number of workers, an `index` (`i64` once it is lowered); see
    `rt.worker_count`.

    ```mlir
    func.func private @layer(%host: !llvm.ptr {rt.role = #rt.role<host>}, %weights: memref<?xi8> {rt.role = #rt.role<weights>})
    ```
  }];
  let assemblyFormat = "`<` $value `>`";
}

def Rt_KernelWorkAttr : AttrDef<Rt_Dialect, "KernelWork"> {
  let mnemonic = "kernel_work";
  let summary = "the work of all calls of one kernel in a call of an entry";
  let description = [{
    `rt.kernel_work` on an entry has one of these attributes for each kernel of the module, in the order of the module's
    functions. The name of the kernel is a string and not a symbol reference: a reference would make the entry a user of
    functions, some of which it does not call. `calls` is the number of calls of the kernel in one call of the entry; 0
    if the entry does not call it. The other numbers are formulas for all these calls together. `flops` counts two
    operations for each multiply-add of a matrix product. `weight_bytes` counts the bytes of weights, and `tensor_bytes`
    those of other tensors, that the kernel reads or writes. A call counts each tensor once; of slices, caches and
    lookup tables it counts only the parts that it uses. The symbols of the formulas are dims of the entry. An entry
    whose work does not follow from its dims has no `rt.kernel_work`. On a GPU, a last element named `"other"`, whose
    numbers are 0, stands for loops outside of kernels, if any are launched.

    ```mlir
    #rt.kernel_work<"linear", calls = 2, flops = <[batch], affine_map<()[s0] -> (s0 * 64)>>,
                    weight_bytes = <[], affine_map<() -> (256)>>, tensor_bytes = <[batch], affine_map<()[s0] -> (s0 * 32)>>>
    ```
  }];
  let parameters = (ins StringRefParameter<"name of a function">:$kernel, "int64_t":$calls, "::mlir::xfmr::FormulaAttr":$flops,
                        "::mlir::xfmr::FormulaAttr":$weight_bytes, "::mlir::xfmr::FormulaAttr":$tensor_bytes);
  let assemblyFormat = "`<` $kernel `,` struct($calls, $flops, $weight_bytes, $tensor_bytes) `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

def Rt_LaunchAttr : AttrDef<Rt_Dialect, "Launch"> {
  let mnemonic = "launch";
  let summary = "how a device executes a parallel loop";
  let description = [{
    Stands as `rt.launch` on an `scf.forall`. A thread block executes the operations of an iteration, unless `grid` is
    set.

    - `grid`: the iterations are thread blocks that execute the operations of the loop once, together: the threads of
      all blocks share the elements of each operation.
    - `threads`: the threads of a block, a multiple of 32; 0 stands for the option `threads` of
      `attune-outline-launches`.
    - `shared_bytes`: the dynamic shared memory of a block in bytes.
    - `arch`: ten times the compute capability of the only GPUs that execute the loop (90: sm_90a), 0 for all GPUs.
    - `limit`: selects the argument of the function whose `rt.limit` is this number. The argument is a buffer of i64
      with one dimension. Its last element is a number of rows: the buffer has offsets, which end with the number of
      packed tokens, or only the number of tokens of one expert. The index of an iteration in the first dimension of the
      loop is its first row. An iteration whose first row is not less than the number of rows does nothing. Without
      `limit`, all iterations are executed.

    ```mlir
    #rt.launch<threads = 384, shared_bytes = 217088, arch = 90>
    ```
  }];
  let parameters = (ins DefaultValuedParameter<"bool", "false">:$grid, DefaultValuedParameter<"int64_t", "0">:$threads,
                        DefaultValuedParameter<"int64_t", "0">:$shared_bytes, DefaultValuedParameter<"int64_t", "0">:$arch,
                        OptionalParameter<"::std::optional<int64_t>">:$limit);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns this attribute with |bytes| of shared memory.
    LaunchAttr withSharedBytes(int64_t bytes) {
      return get(getContext(), getGrid(), getThreads(), bytes, getArch(), getLimit());
    }
  }];
}

def Rt_DeviceFunctionAttr : AttrDef<Rt_Dialect, "DeviceFunction"> {
  let mnemonic = "device_function";
  let summary = "how the host launches a kernel of a device";
  let description = [{
    Stands as `rt.device_function` on the functions of a `gpu.module`. The host launches a function by its number, the
    index among the functions of the `gpu.module`. `parent` names the host function that launches the kernel, as a
    string: a symbol reference would name a function of the `gpu.module`. `shared_bytes` and `arch` are as in
    `#rt.launch`. The first `tensor_maps` parameters of the function are results of `rt.tensor_map`.

    ```mlir
    #rt.device_function<"linear_48_144", shared_bytes = 217088, arch = 90, tensor_maps = 2>
    ```
  }];
  let parameters = (ins StringRefParameter<"name of a function">:$parent, "int64_t":$shared_bytes,
                        DefaultValuedParameter<"int64_t", "0">:$arch, DefaultValuedParameter<"int64_t", "0">:$tensor_maps);
  let assemblyFormat = "`<` $parent `,` struct($shared_bytes, $arch, $tensor_maps) `>`";
  let genVerifyDecl = 1;
}

#endif // RT_ATTRS_TD
