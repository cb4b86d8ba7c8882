//===- Passes.td - Conversion of xfmr to linalg ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

include "mlir/Pass/PassBase.td"

def ConvertXfmrToLinalg : Pass<"convert-xfmr-to-linalg", "::mlir::func::FuncOp"> {
  let summary = "lower xfmr ops to linalg on tensors and choose weight layouts";
  let description = [{
    A projection (`xfmr.linear`) becomes a contraction over packed weight panels and an elementwise epilogue, a norm
    becomes row reductions and an elementwise operation, and a split of heads becomes a view. A panel holds the weights
    of `panel-width` output features, the columns of the result, in the order in which the kernel reads them: for each
    input feature k, the weights of all columns of the panel. The last panel is filled up with zeros. Operations with
    the same number in the attribute `tile.group`, such as the two below, become one kernel in the phase `tiled`.

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
    (`tile.quantize_rows`) by panels in which several neighbors in k lie side by side for each column: `bf16-group` of
    them or, with int8, the number that `int8-element` implies. With int8, the epilogue applies the scales. Rows that
    several projections of the same IR block read in the same form are converted once. The result of an elementwise
    operation is stored rounded if only such a conversion to bf16 or f16 reads it and the rows are not padded.

    **Formats.** A projection whose `format` has integers multiplies rows by panels that have a scale per group of
    neighbors in k (`tile.grouped_product`). With the precision int8, rows are quantized in the same groups, with bf16
    and f16 they are rounded, and with f32 they stay as they are. The epilogue is that of an f32 projection. A
    projection with the `format` bf16 or f16 is an f32 projection whose panels have this type and are widened in the
    contraction.

    **Attention.** With an `attention-precision` of bf16 or f16, for tensor cores, keys and values are stored in this
    type, and queries, too, if only attention reads the tensor of which they are a part. This needs heads whose numbers
    of components, in keys and in values, are multiples of 8 and at most `attention-head`:

    ```mlir
    %y = linalg.generic … -> tensor<?x192xf32>    // queries, keys and values
    %a = xfmr.attention %q, %k, %v … : tensor<?x4x16xf32>, … -> tensor<?x4x16xf32>
    // becomes
    %y = linalg.generic … -> tensor<?x192xbf16>
    %a = xfmr.attention %q, %k, %v … : tensor<?x4x16xbf16>, … -> tensor<?x4x16xf32>
    ```

    Operands keep their types if keys are in a cache, if attention also returns its probabilities, or if it has tables
    of relative positions.

    Expects no `multi_head_attention`, `ffn`, `experts` or `dropout`; these are errors. Leaves `xfmr.attention`,
    `xfmr.rotary`, `xfmr.kv_cache_update` and `xfmr.kv_cache_read`; the phase `tiled` turns each of these as a whole
    into loops around tile operations (`attune-tile-attention`, `attune-tile-head-ops`). Tables of relative positions of
    attention become `xfmr.weight_distance_panels`. Operations on weights stay, except `xfmr.weight_select`, which
    becomes a slice.

    Numerics: as N1, N2, … in the description of each operation say. With an `attention-precision` of bf16 or f16,
    operands of attention are rounded (N2 of `tile.attention_tile`).
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
                        "neighbors in k that lie side by side in bf16 and f16 panels; always 2 if `bf16-element` is "
                        "f32">,
                 Option<"bf16Multiple", "bf16-multiple", "int64_t", "::mlir::rt::Schedule().bf16.multiple",
                        "the number of input features of rows and panels of bf16 and f16 is padded to a multiple of "
                        "this, a multiple of the neighbors side by side">,
                 Option<"int8Element", "int8-element", "std::string",
                        "::mlir::rt::stringifyStorageType(::mlir::rt::Schedule().int8.type).str()",
                        "element type in memory of rows quantized with a scale per row: i8, unsigned with 128 added, "
                        "and panels with 4 neighbors in k side by side; or i16, and panels with 2">,
                 Option<"int8Multiple", "int8-multiple", "int64_t", "::mlir::rt::Schedule().int8.multiple",
                        "the number of input features of rows quantized with a scale per row, and of their panels, is "
                        "padded to a multiple of this, a multiple of the neighbors side by side">,
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
