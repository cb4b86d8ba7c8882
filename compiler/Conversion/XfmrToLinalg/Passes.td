//===- Passes.td - Conversion of xfmr to linalg ----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_CONVERSION_XFMRTOLINALG_PASSES_TD
#define ATTUNE_CONVERSION_XFMRTOLINALG_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertXfmrToLinalg : Pass<"convert-xfmr-to-linalg", "::mlir::func::FuncOp"> {
  let summary = "lower xfmr ops to linalg on tensors and choose weight layouts";
  let description = [{
    Projections become a contraction over packed weight panels and one elementwise epilogue, norms become row reductions, head splits become
    views. The ops of one kernel carry the same `tile.group` number, which tiling fuses by. `xfmr.attention`, `xfmr.rotary` and
    operations on caches stay: tiling needs them whole.

    ```mlir
    %y = xfmr.linear %x, %w bias(%b) : tensor<?x48xf32>, tensor<112x48xf32>, bias tensor<112xf32>
    // becomes
    %p = xfmr.weight_pack %w, 32 : tensor<112x48xf32>
    %c = linalg.generic {indexing_maps = [(m, n, k) -> (m, k), (m, n, k) -> (n floordiv 32, k, n mod 32), (m, n, k) -> (m, n)]} …
    %y = linalg.generic … // + bias
    ```

    A projection of lower precision multiplies codes (`tile.quantize_rows`) by panels of codes with neighbours in K side by side; with int8 its epilogue
    applies the scales. Rows that several projections take are rounded once, and a result that only a bf16 projection reads is stored rounded.
    `bf16-codes` and `int8-codes` are element types of codes: bf16 (or f32, the same values), i8 (or i16).

    With `attention-codes` the keys and values of attention are codes, too, unless they are a cache or its scores are a result; so are queries if nothing else
    reads what they are a part of. They are rounded by whoever makes them:

    ```mlir
    %y = linalg.generic … -> tensor<?x144xf32>    // queries, keys and values
    %a = xfmr.attention %q, %k, %v … : tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32> -> tensor<?x4x16xf32>
    // becomes
    %y = linalg.generic … -> tensor<?x144xbf16>
    %a = xfmr.attention %q, %k, %v … : tensor<?x4x16xbf16>, tensor<?x4x16xbf16>, tensor<?x4x16xbf16> -> tensor<?x4x16xf32>
    ```

    Expects composites decomposed and `multi_head_attention`, `ffn` and `dropout` gone. Numerics: exact (each op's N labels hold).
  }];
  let options = [Option<"panelWidth", "panel-width", "int64_t", "::mlir::rt::Schedule().panelWidth", "columns of a weight panel">,
                 Option<"bf16Codes", "bf16-codes", "std::string", "::mlir::rt::stringifyStorageType(::mlir::rt::Schedule().bf16.type).str()",
                        "element type of bf16 codes: bf16 or f32">,
                 Option<"bf16Group", "bf16-group", "int64_t", "::mlir::rt::Schedule().bf16.group",
                        "neighbours in K that lie side by side in panels of bf16 codes">,
                 Option<"bf16Multiple", "bf16-multiple", "int64_t", "::mlir::rt::Schedule().bf16.multiple",
                        "columns of bf16 codes are a multiple of this">,
                 Option<"int8Codes", "int8-codes", "std::string", "::mlir::rt::stringifyStorageType(::mlir::rt::Schedule().int8.type).str()",
                        "element type of int8 codes: i8 (plus 128) or i16">,
                 Option<"int8Multiple", "int8-multiple", "int64_t", "::mlir::rt::Schedule().int8.multiple",
                        "columns of int8 codes are a multiple of this">,
                 Option<"attentionCodes", "attention-codes", "::mlir::xfmr::Precision", "::mlir::rt::Schedule().attentionPrecision",
                        "what operands of attention are rounded to",
                        [{::llvm::cl::values(clEnumValN(::mlir::xfmr::Precision::F32, "f32", "nothing"),
                                             clEnumValN(::mlir::xfmr::Precision::BF16, "bf16", "bf16"),
                                             clEnumValN(::mlir::xfmr::Precision::F16, "f16", "f16"))}]>,
                 Option<"attentionHead", "attention-head", "int64_t", "::mlir::rt::Schedule().maxAttentionHead",
                        "components of the largest head whose operands are rounded">,
                 Option<"knownCounts", "known-counts", "bool", "!::mlir::rt::Schedule().hostReadsBuffers",
                        "the host cannot read data: packed tokens have as many rows as there are places, and none of those beyond the last has one">];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::scf::SCFDialect", "::mlir::affine::AffineDialect",
                           "::mlir::tiles::TileDialect"];
}

#endif // ATTUNE_CONVERSION_XFMRTOLINALG_PASSES_TD
