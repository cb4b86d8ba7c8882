//===- RtDialect.td - The rt dialect -----------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The target of a compilation, and calls of compiled code to the runtime.
//
//===----------------------------------------------------------------------===//
#ifndef RT_DIALECT_TD
#define RT_DIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Rt_Dialect : Dialect {
  let name = "rt";
  let cppNamespace = "::mlir::rt";
  let summary = "the target of a compilation, and calls of compiled code to the runtime";
  let description = [{
    A module carries the attributes `rt.target` and `rt.schedule`. They stay on it through all phases, so the dump of
    any phase can be lowered further without options.

    `rt.role` marks those arguments of a function that are neither inputs nor outputs of the model. An entry carries
    `rt.workspace`, a `#xfmr.formula` for the bytes of scratch memory that a call needs; its symbols are dims of the
    entry and `workers`. If the work of its kernels follows from its dims, an entry also carries `rt.kernel_work`, a
    list of `#rt.kernel_work`. For a GPU, `rt.launch` is on parallel loops and `rt.device_function` on kernels. A GPU
    reads the number of packed tokens, or of the tokens of an expert, from an argument of a function. `rt.limit` gives
    such an argument a number, by which `rt.launch` refers to it.

    Compiled code calls the runtime through one structure, `attune_host` of attune/abi.h. The structure has functions
    that run parallel loops, launch kernels on a GPU, encode TMA descriptors and gather the shards of ranks. From the
    phase `linalg` to the phase `target`, operations of this dialect represent calls of these functions, except
    launches, and reads of the structure.
  }];
  let discardableAttrs = (ins "::mlir::rt::RoleAttr":$role, "::mlir::xfmr::FormulaAttr":$workspace, "::mlir::ArrayAttr":$kernel_work,
                              "::mlir::rt::LaunchAttr":$launch, "::mlir::IntegerAttr":$limit,
                              "::mlir::rt::DeviceFunctionAttr":$device_function);
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::xfmr::XfmrDialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
}

class Rt_Op<string mnemonic, list<Trait> traits = []> : Op<Rt_Dialect, mnemonic, traits>;

/// An `!llvm.ptr` to memory of the host: to `attune_host` (see `rt.role`), or to a TMA descriptor.
def Rt_HostPointer : Type<CPred<"::llvm::isa<::mlir::LLVM::LLVMPointerType>($_self)">, "pointer to the host",
                          "::mlir::LLVM::LLVMPointerType">,
    BuildableType<"::mlir::LLVM::LLVMPointerType::get($_builder.getContext())">;

def Rt_TargetAttr : AttrDef<Rt_Dialect, "Target"> {
  let mnemonic = "target";
  let summary = "the target machine and its numeric precision";
  let description = [{
    ```mlir
    #rt.target<"cpu", {cpu = "x86-64-v4", features = ["avx512vnni", "x86"], kernels = "mlir", precision = "f32",
                       triple = "x86_64-pc-linux-gnu", vector_bits = 512 : i64, vector_registers = 32 : i64}>
    #rt.target<"cuda", {archs = ["sm_80", "sm_90a"], precision = "bf16"}>
    ```

    The name is that of a target in `compiler/Target`. The code of the target defines and checks the properties:
    strings, positive numbers and lists of strings. All targets have the property `precision` (`f32`, `bf16`, `f16` or
    `int8`), the operand type of projections.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::DictionaryAttr":$properties);
  let assemblyFormat = "`<` $name `,` $properties `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Name of the module attribute.
    static constexpr ::llvm::StringLiteral kName = "rt.target";
    /// Returns the operand type of projections.
    ::mlir::xfmr::Precision getPrecision() const;
    /// Return the string or the number of the property |name|; "" or 0 if it is absent or of another kind.
    ::llvm::StringRef getText(::llvm::StringRef name) const;
    int64_t getNumber(::llvm::StringRef name) const;
    /// Returns the strings of the property |name|; an empty list if it is absent or no list.
    ::llvm::SmallVector<::llvm::StringRef> getList(::llvm::StringRef name) const;
  }];
}

def Rt_ScheduleAttr : AttrDef<Rt_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "tile sizes and layouts";
  let description = [{
    ```mlir
    #rt.schedule<register_rows = 6, query_rows = 4, panel_width = 16>
    ```

    The fields are those of `dialect/Rt/IR/Schedule.h`: register tiles and cache blocks of a CPU, or thread-block tiles
    of a GPU, and the layout of low-precision operands (`bf16_*`, `int8_*`). A field that is absent has the value for a
    CPU with AVX-512; only fields with other values are printed.
  }];
  let parameters = (ins "::mlir::rt::Schedule":$value);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Name of the module attribute.
    static constexpr ::llvm::StringLiteral kName = "rt.schedule";
  }];
}

#endif // RT_DIALECT_TD
