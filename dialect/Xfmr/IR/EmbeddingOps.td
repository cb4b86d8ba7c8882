//===- EmbeddingOps.td - Lookups in embedding tables -------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef XFMR_EMBEDDING_OPS_TD
#define XFMR_EMBEDDING_OPS_TD

include "dialect/Xfmr/IR/XfmrAttrs.td"
include "dialect/Xfmr/IR/XfmrTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Xfmr_EmbeddingOp : Xfmr_Op<"embedding", [Pure, InferTypeOpAdaptor]> {
  let summary = "looks up rows of a table by id";
  let description = [{
    `result[t, :] = table[ids[t], :] * scale`, a row of N features for each of T ids, from a table `[rows, N]`. Without
    `scale` the factor is 1.

    The pass `xfmr-tie-embeddings` sets `tied` if the table is also the weight of an `xfmr.linear`: `tied` is the
    `precision` of that projection, and `format` is the `format` of that projection. The table is then stored once, in
    the packed panels of the projection, and the operation reads its rows there. Without `tied`, a `format`, bf16 or
    f16, is the type in which the table is stored.

    - (C1) `table` has static shape.
    - (C2) A `format` of integers needs `tied`. With the `format` bf16 or f16, `tied` is absent or f32. A table with a
      `format` has fewer than 2^31 features.
    - (N1) Without `format`, and with `tied` absent or f32, elements of the table are exact. An id outside the table is
      undefined behavior; the runtime checks the ids that a caller gives in host memory (`max_value` of `#xfmr.input`).
    - (N2) With `tied` bf16 or f16 and no `format`, elements of the table are rounded to the type that `tied` names;
      with the `format` bf16 or f16, to the type that `format` names. Both roundings are to nearest, ties to even.
    - (N3) With `tied` int8 and no `format`, `table[n, k]` is replaced by `f32(q[n, k]) * s[n]`, rounded once. `f32`
      converts the integers q, the result of `xfmr.weight_quantize` for the table, and s is the result of
      `xfmr.weight_scales`.
    - (N4) With a `format` of integers, whatever `tied` is, `table[n, k]` is replaced by `d[n, g] * i[n, k]`, or in
      formats with minima by the fused multiply-add `fma(d[n, g], i[n, k], m[n, g])`, each rounded once. Here g is the
      group of column k, and i, d and m are the integers, scales and minima of the table in that format (see
      `#xfmr.weight_format`).
    - (N5) The product of an element and `scale` is computed in f64 and then rounded to f32.

    ```mlir
    %x = xfmr.embedding %ids, %table : tensor<203x48xf32>    // tensor<?x48xf32>
    %b = xfmr.embedding %ids, %table {format = #xfmr.weight_format<"bf16">} : tensor<203x48xf32>
    %y = xfmr.embedding %ids, %table {scale = 6.928203e+00 : f64, tied = #xfmr.precision<bf16>} : tensor<203x48xf32>
    ```
  }];
  let arguments = (ins Xfmr_Ids:$ids, 2DTensorOf<[F32]>:$table, OptionalAttr<Xfmr_PrecisionAttr>:$tied,
                       OptionalAttr<Xfmr_WeightFormatAttr>:$format, OptionalAttr<F64Attr>:$scale);
  let results = (outs Xfmr_Tokens:$result);
  let assemblyFormat = "$ids `,` $table attr-dict `:` type($table)";
  let builders = [OpBuilder<(ins "::mlir::Value":$ids, "::mlir::Value":$table), [{
    build($_builder, $_state, ids, table, ::mlir::xfmr::PrecisionAttr(), ::mlir::xfmr::WeightFormatAttr(), ::mlir::FloatAttr());
  }]>];
  let hasVerifier = 1;
}

#endif // XFMR_EMBEDDING_OPS_TD
