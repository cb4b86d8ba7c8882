//===- Passes.td - Conversion of xfmr to linalg ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

include "mlir/Pass/PassBase.td"

def ConvertXfmrToLinalg : Pass<"convert-xfmr-to-linalg", "::mlir::func::FuncOp"> {
  let summary = "lower xfmr ops to linalg on tensors and choose weight layouts";
  let description = [{
    Projections become a contraction over packed weight panels and one elementwise epilogue, norms become row reductions, and
    head splits become views. The ops of one kernel carry the same `tile.group` number, which tells tiling what to fuse.

    ```mlir
    %y = xfmr.linear %x, %w bias(%b) : tensor<?x48xf32>, tensor<112x48xf32>, bias tensor<112xf32>
    // becomes
    %p = xfmr.weight_pack %w, 32 : tensor<112x48xf32>
    %c = linalg.generic {indexing_maps = [(m, n, k) -> (m, k), (m, n, k) -> (n floordiv 32, k, n mod 32), (m, n, k) -> (m, n)]} …
    %y = linalg.generic … // + bias
    ```

    A low-precision projection multiplies quantized or rounded rows (`tile.quantize_rows`) by packed panels that interleave
    `group` neighbors of K; with int8, its epilogue applies the scales. Rows that several projections read are converted once,
    and a result that only a bf16 projection reads is stored as bf16. The options `bf16-element` and `int8-element` name the types
    of these operands in memory: bf16 (or f32, with the same values), i8 (or i16).

    A projection with a `format` multiplies rows that are quantized by groups of columns by panels of the same groups
    (`tile.grouped_product`), and its epilogue is that of a projection of f32.

    With `attention-precision`, the producers of keys and values of attention store them in this precision, unless they are a
    cache or the scores are a result. Queries are stored so, too, if only attention reads their tensor:

    ```mlir
    %y = linalg.generic … -> tensor<?x144xf32>    // queries, keys and values
    %a = xfmr.attention %q, %k, %v … : tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32> -> tensor<?x4x16xf32>
    // becomes
    %y = linalg.generic … -> tensor<?x144xbf16>
    %a = xfmr.attention %q, %k, %v … : tensor<?x4x16xbf16>, tensor<?x4x16xbf16>, tensor<?x4x16xbf16> -> tensor<?x4x16xf32>
    ```

    Expects composites decomposed, and no `multi_head_attention`, `ffn` or `dropout`. Leaves alone `xfmr.attention`, `xfmr.rotary`
    and operations on key/value caches: tiling needs them whole. Numerics: exact; the N labels of each op hold.
  }];
  let options = [Option<"panelWidth", "panel-width", "int64_t", "::mlir::rt::Schedule().panelWidth", "columns of a weight panel">,
                 Option<"bf16Element", "bf16-element", "std::string",
                        "::mlir::rt::stringifyStorageType(::mlir::rt::Schedule().bf16.type).str()",
                        "element type in memory of operands rounded to bf16: bf16 or f32">,
                 Option<"bf16Group", "bf16-group", "int64_t", "::mlir::rt::Schedule().bf16.group",
                        "neighbors in K that bf16 panels interleave">,
                 Option<"bf16Multiple", "bf16-multiple", "int64_t", "::mlir::rt::Schedule().bf16.multiple",
                        "columns of operands rounded to bf16 are padded to a multiple of this">,
                 Option<"int8Element", "int8-element", "std::string",
                        "::mlir::rt::stringifyStorageType(::mlir::rt::Schedule().int8.type).str()",
                        "element type in memory of quantized rows: i8 (plus 128) or i16">,
                 Option<"int8Multiple", "int8-multiple", "int64_t", "::mlir::rt::Schedule().int8.multiple",
                        "columns of quantized rows are padded to a multiple of this">,
                 Option<"attentionPrecision", "attention-precision", "::mlir::xfmr::Precision", "::mlir::rt::Schedule().attentionPrecision",
                        "element type to which operands of attention are rounded",
                        [{::llvm::cl::values(clEnumValN(::mlir::xfmr::Precision::F32, "f32", "nothing"),
                                             clEnumValN(::mlir::xfmr::Precision::BF16, "bf16", "bf16"),
                                             clEnumValN(::mlir::xfmr::Precision::F16, "f16", "f16"))}]>,
                 Option<"attentionHead", "attention-head", "int64_t", "::mlir::rt::Schedule().maxAttentionHead",
                        "largest size of a head whose operands are rounded, in components">,
                 Option<"knownCounts", "known-counts", "bool", "!::mlir::rt::Schedule().hostReadsBuffers",
                        "the host cannot read the token count: pad packed tokens to batch x length rows, with position -1">];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::scf::SCFDialect", "::mlir::affine::AffineDialect",
                           "::mlir::tiles::TileDialect"];
}
