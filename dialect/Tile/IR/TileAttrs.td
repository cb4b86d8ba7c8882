//===- TileAttrs.td - Attributes of the tile dialect -------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_ATTRS_TD
#define TILE_ATTRS_TD

include "dialect/Tile/IR/TileDialect.td"
include "mlir/IR/AttrTypeBase.td"

def Tile_GroupAttr : AttrDef<Tile_Dialect, "Group"> {
  let mnemonic = "group";
  let summary = "the kernel that an operation becomes part of";
  let description = [{
    Stands as `tile.group` on Linalg operations, `tile.quantize_rows` and `tile.grouped_product` from the phase `linalg`
    until kernels are outlined. Operations with the same `number` become one kernel: tiling fuses producers into their
    consumer. An operation without a number is a kernel by itself, with one exception: a `tile.quantize_rows` without a
    number becomes part of the kernel that computes its input if that kernel writes whole rows. `text` describes the
    kernel in one line.

    ```mlir
    #tile.group<3, "linear 48 -> 144, bias">
    #tile.group<"rows of 33 as int8">
    ```
  }];
  let parameters = (ins OptionalParameter<"::std::optional<int64_t>">:$number, StringRefParameter<"one line for people">:$text);
  let assemblyFormat = "`<` ($number^ `,` ` `)? $text `>`";
  let genVerifyDecl = 1;
}

def Tile_KernelAttr : AttrDef<Tile_Dialect, "Kernel"> {
  let mnemonic = "kernel";
  let summary = "the kernel that a parallel loop or a function implements";
  let description = [{
    Stands as `tile.kernel` on the `scf.forall` of a kernel until it is outlined, then on its function. `text` describes
    the kernel in one line. In a `row_wise` loop, each row of the results depends only on the same row of some inputs
    and on all of the other inputs, such as weights. A row depends neither on its index nor on the number of rows.
    `backend` is `halide` if Halide generates the code of the function; it is empty if the target's own code generator
    does. `note` says why the requested backend does not generate this code; it is empty if it does.

    ```mlir
    #tile.kernel<"layer_norm 48", row_wise>
    #tile.kernel<"linear 48 -> 144", backend = "halide">
    #tile.kernel<"rows of 33 as int8", note = "not by Halide: it has two results">
    ```
  }];
  let parameters = (ins StringRefParameter<"one line for people">:$text, DefaultValuedParameter<"bool", "false">:$rowWise,
                        StringRefParameter<"name of a code generator", [{""}]>:$backend,
                        StringRefParameter<"one line for people", [{""}]>:$note);
  let builders = [AttrBuilder<(ins "::llvm::StringRef":$text, CArg<"bool", "false">:$rowWise, CArg<"::llvm::StringRef", "{}">:$backend,
                                   CArg<"::llvm::StringRef", "{}">:$note), [{ return $_get($_ctxt, text, rowWise, backend, note); }]>];
  let skipDefaultBuilders = 1;
  let hasCustomAssemblyFormat = 1;
}

def Tile_WorkAttr : AttrDef<Tile_Dialect, "Work"> {
  let mnemonic = "work";
  let summary = "the arithmetic and the traffic of key/value caches of one execution of a kernel";
  let description = [{
    Stands as `tile.work` on the `scf.forall` of a kernel with products or caches until the kernel is outlined, then on
    calls of the kernel until `attune-count-kernel-work` has run. If the function that contains the loop or the call is
    an entry, the symbols of the formulas are names of its dims; in any other function, they are index arguments and
    dimensions of arguments (`#xfmr.argument`). `flops` counts two operations for each multiply-add of a matrix product.
    `cache_bytes` counts the bytes of key and value caches, the operands of rank 4 and 5, that the kernel reads or
    writes. `attune-count-kernel-work` counts the bytes of other operands by their shapes.

    ```mlir
    #tile.work<flops = <[#xfmr.argument<0, 0>], affine_map<()[s0] -> (s0 * 6144)>>>
    ```
  }];
  let parameters = (ins OptionalParameter<"::mlir::xfmr::FormulaAttr">:$flops, OptionalParameter<"::mlir::xfmr::FormulaAttr">:$cache_bytes);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif // TILE_ATTRS_TD
