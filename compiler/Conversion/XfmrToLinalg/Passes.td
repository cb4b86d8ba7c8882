//===- Passes.td - Conversion of xfmr to linalg ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

include "mlir/Pass/PassBase.td"

def ConvertXfmrToLinalg : Pass<"convert-xfmr-to-linalg", "::mlir::func::FuncOp"> {
  let summary = "lower xfmr ops to linalg on tensors and choose weight layouts";
  let description = [{
    A projection (`xfmr.linear`) becomes a contraction over packed weight panels and, for its epilogue, an elementwise
    operation. A norm becomes row reductions and an elementwise operation, and a split of heads becomes a view. A panel
    holds the weights of `panel-width` output features, which are columns of the result, in the order in which the
    kernel reads them: for each input feature k in turn, the weights of all columns of the panel. The last panel is
    filled up with zeros. Operations with the same number in the attribute `tile.group`, such as the two
    `linalg.generic` below, become one kernel in the phase `tiled`.

    ```mlir
    %y = xfmr.linear %x, %w bias(%b) : tensor<?x48xf32>, tensor<112x48xf32>, bias tensor<112xf32>
    // becomes
    %p = xfmr.weight_pack %w, 32 : tensor<112x48xf32>
    // m: tokens, n: output features, k: input features
    %c = linalg.generic {indexing_maps = [(m, n, k) -> (m, k), (m, n, k) -> (n floordiv 32, k, n mod 32),
                                          (m, n, k) -> (m, n)]} …
    %y = linalg.generic … // + bias
    ```

    **Precision.** A projection whose `precision` is lower than f32 multiplies quantized or rounded rows
    (`tile.quantize_rows`) by panels in which, for each column, the weights of several neighboring input features lie
    side by side: of `bf16-group` features or, with int8, of as many as `int8-element` implies. With int8, the epilogue
    applies the scales. Rows that several projections of the same IR block read in the same type and with the same
    groups are converted once. An elementwise operation stores its result rounded if the only reader of the result,
    `tensor.dim` aside, is a conversion to bf16 or f16 that does not pad the rows (`bf16-multiple`).

    **Formats.** A projection whose `format` has integers multiplies rows by panels that have a scale for each group of
    neighboring input features (`tile.grouped_product`). With the precision int8, rows are quantized in the same groups;
    with bf16 and f16 they are rounded; with f32 they stay as they are. The epilogue is that of an f32 projection. A
    projection with the `format` bf16 or f16 is converted as an f32 projection, except that its panels have this type
    and the contraction widens their elements.

    **Attention.** With an `attention-precision` of bf16 or f16, for tensor cores, keys and values are stored in this
    type, and queries, too, if only attention reads the tensor of which they are a part. The number of components of a
    head must be a multiple of 8 and at most `attention-head`, for queries and keys and for values:

    ```mlir
    %y = linalg.generic … -> tensor<?x192xf32>    // queries, keys and values
    %a = xfmr.attention %q, %k, %v … : tensor<?x4x16xf32>, … -> tensor<?x4x16xf32>
    // becomes
    %y = linalg.generic … -> tensor<?x192xbf16>
    %a = xfmr.attention %q, %k, %v … : tensor<?x4x16xbf16>, … -> tensor<?x4x16xf32>
    ```

    The operands of an `xfmr.attention` keep their types if the sizes of its heads do not allow the conversion, if its
    keys are in a cache, if it also returns its probabilities, or if it has tables of relative positions.

    Expects no `multi_head_attention`, `ffn`, `experts` or `dropout`; each of these is an error. Leaves
    `xfmr.attention`, `xfmr.rotary`, `xfmr.kv_cache_update` and `xfmr.kv_cache_read`; in the phase `tiled` each of these
    becomes loops around tile operations (`attune-tile-attention`, `attune-tile-head-ops`). Tables of relative positions
    of attention become `xfmr.weight_distance_panels`. Operations on weights stay, except `xfmr.weight_select`, which
    becomes a slice of a stack of weights. An operation on a weight that `weight_select` chooses moves to the stack; if
    the operation takes no stack, as `xfmr.weight_transpose` and `xfmr.weight_concat`, that is an error.

    Numerics: as N1, N2, … in the description of each operation say. With an `attention-precision` of bf16 or f16,
    operands of attention may be rounded to it (N2 of `tile.attention_tile`).
  }];
  let options = [Option<"panelWidth", "panel-width", "int64_t", "::mlir::rt::Schedule().panelWidth",
                        "columns of a weight panel, a multiple of 16 up to 4096">,
                 Option<"groupedWidth", "grouped-width", "int64_t", "0",
                        "columns of a panel of weights with a scale per group, a multiple of 16 up to 4096; 0: "
                        "`panel-width`">,
                 Option<"bf16Element", "bf16-element", "std::string",
                        "::mlir::rt::stringifyStorageType(::mlir::rt::Schedule().bf16.type).str()",
                        "element type in memory of rows rounded to bf16: bf16 or f32; panels are always bf16">,
                 Option<"bf16Group", "bf16-group", "int64_t", "::mlir::rt::Schedule().bf16.group",
                        "neighboring input features whose weights lie side by side in bf16 and f16 panels; always 2 if "
                        "`bf16-element` is f32">,
                 Option<"bf16Multiple", "bf16-multiple", "int64_t", "::mlir::rt::Schedule().bf16.multiple",
                        "the number of input features of rows and panels of bf16 and f16 is padded to a multiple of "
                        "this, itself a multiple of the input features that lie side by side in panels">,
                 Option<"int8Element", "int8-element", "std::string",
                        "::mlir::rt::stringifyStorageType(::mlir::rt::Schedule().int8.type).str()",
                        "element type in memory of rows quantized with a scale per row: i8, unsigned with 128 added, "
                        "and panels with the weights of 4 neighboring input features side by side; or i16, and panels "
                        "with those of 2">,
                 Option<"int8Multiple", "int8-multiple", "int64_t", "::mlir::rt::Schedule().int8.multiple",
                        "the number of input features of rows quantized with a scale per row, and of their panels, is "
                        "padded to a multiple of this, itself a multiple of the input features that lie side by side "
                        "in panels">,
                 Option<"attentionPrecision", "attention-precision", "::mlir::xfmr::Precision", "::mlir::rt::Schedule().attentionPrecision",
                        "type to which operands of attention are rounded",
                        [{::llvm::cl::values(clEnumValN(::mlir::xfmr::Precision::F32, "f32", "no rounding"),
                                             clEnumValN(::mlir::xfmr::Precision::BF16, "bf16", "bf16"),
                                             clEnumValN(::mlir::xfmr::Precision::F16, "f16", "f16"))}]>,
                 Option<"attentionHead", "attention-head", "int64_t", "::mlir::rt::Schedule().maxAttentionHead",
                        "most components of a head whose keys and values are stored in the type `attention-precision`">,
                 Option<"knownCounts", "known-counts", "bool", "!::mlir::rt::Schedule().hostReadsBuffers",
                        "the host cannot read the number of packed tokens, as for a GPU: packed tokens get batch x "
                        "length rows, of which unused ones have the position -1">];
  let dependentDialects = ["::mlir::rt::RtDialect", "::mlir::linalg::LinalgDialect", "::mlir::arith::ArithDialect", 
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect", "::mlir::scf::SCFDialect",
                           "::mlir::affine::AffineDialect", "::mlir::tiles::TileDialect"];
}
