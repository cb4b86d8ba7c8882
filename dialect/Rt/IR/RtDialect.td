//===- RtDialect.td - The rt dialect -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The machine that a module is compiled for, and calls of the runtime on it.
//
//===----------------------------------------------------------------------===//
#ifndef RT_DIALECT_TD
#define RT_DIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Rt_Dialect : Dialect {
  let name = "rt";
  let cppNamespace = "::mlir::rt";
  let summary = "the target of a compilation, and calls of the runtime by compiled code";
  let description = [{
    A module carries the attributes `rt.target` and `rt.schedule`, for a GPU also `rt.device_schedule`. They stay on it through
    all phases, so the dump of any phase can be lowered further without an option.

    `rt.role` marks arguments of functions that are neither inputs nor outputs. An entry carries `rt.workspace`, a `#xfmr.formula` of its dims and of
    `workers` for the bytes of scratch that a call needs, and `rt.kernel_work`, a list of `#rt.kernel_work`. For a GPU, `rt.launch` stands on parallel
    loops, `rt.limit` on the offsets of packed tokens among the arguments and `rt.device_function` on kernels.

    Compiled code calls the runtime through one structure of functions, `attune_host` of attune/abi.h: parallel loops, kernels on a device.
    Operations of this dialect stand for these calls from the phase `tiled` to the phase `target`.
  }];
  let discardableAttrs = (ins "::mlir::rt::RoleAttr":$role, "::mlir::xfmr::FormulaAttr":$workspace, "::mlir::ArrayAttr":$kernel_work,
                              "::mlir::rt::LaunchAttr":$launch, "::mlir::IntegerAttr":$limit, "::mlir::rt::DeviceFunctionAttr":$device_function);
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::xfmr::XfmrDialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
}

class Rt_Op<string mnemonic, list<Trait> traits = []> : Op<Rt_Dialect, mnemonic, traits>;

/// `!llvm.ptr` to the host's `attune_host`.
def Rt_HostPointer : Type<CPred<"::llvm::isa<::mlir::LLVM::LLVMPointerType>($_self)">, "pointer to the host", "::mlir::LLVM::LLVMPointerType">,
    BuildableType<"::mlir::LLVM::LLVMPointerType::get($_builder.getContext())">;

def Rt_TargetAttr : AttrDef<Rt_Dialect, "Target"> {
  let mnemonic = "target";
  let summary = "the machine, and how numbers are rounded on it";
  let description = [{
    ```mlir
    #rt.target<"cpu", {cpu = "x86-64-v4", features = ["avx512vnni", "x86"], kernels = "mlir", precision = "f32",
                       triple = "x86_64-pc-linux-gnu", vector_bits = 512 : i64, vector_registers = 32 : i64}>
    #rt.target<"cuda", {archs = ["sm_80", "sm_90a"], precision = "bf16"}>
    ```

    `precision` (`f32`, `bf16`, `f16`, `int8`) is what inputs of projections are rounded to. CPU: `kernels` (`mlir`, `halide`) is what
    makes the kernels; `vector_bits` and `vector_registers` describe the registers for floats; `features` are those features, by LLVM's
    names, that the schedule depends on, and `x86` for the family; `cpu` and `triple`, both optional, are the names that LLVM knows the
    machine by. CUDA: `archs` are the names that `--gpu` takes.
  }];
  let parameters = (ins "::mlir::StringAttr":$kind, "::mlir::DictionaryAttr":$properties);
  let assemblyFormat = "`<` $kind `,` $properties `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Name of the module attribute.
    static constexpr ::llvm::StringLiteral kName = "rt.target";
    bool isGpu() const { return getKind() == "cuda"; }
    /// The text or the number of a property that is there; empty or 0 if it is not.
    ::llvm::StringRef getText(::llvm::StringRef name) const;
    int64_t getNumber(::llvm::StringRef name) const;
    /// The texts of a list.
    ::llvm::SmallVector<::llvm::StringRef> getList(::llvm::StringRef name) const;
  }];
}

def Rt_ScheduleAttr : AttrDef<Rt_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "tile sizes and layouts";
  let description = [{
    The numbers that `compiler/Pipelines/Strategy.h` describes: register tiles, cache blocks and prefetch distances of a CPU, or thread-block
    tiles of a GPU, and the layout of low-precision operands (`bf16_*`, `int8_*`). They change speed and the layout of packed weights.
  }];
  let parameters = (ins "int64_t":$register_rows, "int64_t":$query_rows, "int64_t":$panel_width, "int64_t":$key_panel_width,
    "int64_t":$value_vectors, "int64_t":$weight_rows, "int64_t":$attention_rows, "int64_t":$block_bytes, "int64_t":$max_block_rows,
    "int64_t":$row_block, StringRefParameter<"the unit that multiplies low-precision operands">:$dot_unit,
    StringRefParameter<"type of a bf16 operand in memory">:$bf16_type, "int64_t":$bf16_multiple, "int64_t":$bf16_group,
    StringRefParameter<"type of an int8 operand in memory">:$int8_type, "int64_t":$int8_multiple, "int64_t":$int8_group,
    "int64_t":$code_rows, "int64_t":$code_group, "int64_t":$stream_panels, "int64_t":$prefetch_streams, "int64_t":$prefetch_ahead,
    "int64_t":$few_rows, "int64_t":$few_columns, "int64_t":$wide_rows, "int64_t":$wide_columns, "int64_t":$wide_blocks,
    "bool":$rounds_bf16, "int64_t":$max_features);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Name of the module attribute.
    static constexpr ::llvm::StringLiteral kName = "rt.schedule";
  }];
}

def Rt_DeviceScheduleAttr : AttrDef<Rt_Dialect, "DeviceSchedule"> {
  let mnemonic = "device_schedule";
  let summary = "sizes of thread blocks and of shared memory";
  let description = [{
    What a GPU needs beside `rt.schedule`; `compiler/Pipelines/Strategy.h` describes the numbers. `specific_*` are those of architecture-specific
    code (`sm_90a`), all 0 where there is none.
  }];
  let parameters = (ins "int64_t":$code_query_rows, "int64_t":$largest_code_head, "int64_t":$threads, "int64_t":$shared_bytes,
    "int64_t":$specific_arch, "int64_t":$specific_columns, "int64_t":$specific_stages, "int64_t":$specific_bytes,
    "int64_t":$specific_cache_bytes);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Name of the module attribute.
    static constexpr ::llvm::StringLiteral kName = "rt.device_schedule";
  }];
}

#endif // RT_DIALECT_TD
