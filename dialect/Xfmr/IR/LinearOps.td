//===- LinearOps.td - Linear projections -------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef XFMR_LINEAR_OPS_TD
#define XFMR_LINEAR_OPS_TD

include "dialect/Xfmr/IR/XfmrAttrs.td"
include "dialect/Xfmr/IR/XfmrTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Xfmr_LinearOp : Xfmr_Op<"linear", [Pure, AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let summary = "computes a projection with its epilogue: activation(x W^T + b) * multiplier + residual";
  let description = [{
    `result[t, n] = activation(sum_k input[t, k] * weight[n, k] + bias[n]) * multiplier[t, n] + residual[t, n]`

    `input` is a token tensor `[T, K]`, `weight` is `[N, K]`, the result is `[T, N]`. An absent bias or residual is not
    added; without `multiplier` the factor is 1. The description of `xfmr.activation` has the formulas of activations;
    the default is `none`. `precision`, f32 by default, is the type of the operands of the product. `format`, if
    present, is the type of the stored weights: bf16, f16, or integers of 4 or 8 bits with a scale for each group of
    columns. The target `cpu` has the precisions f32, bf16 and int8. The target `cuda` has the precisions f32, bf16 and
    f16; of the formats it has only those of integers, and these only with the precisions bf16 and f16. In N1 to N6,
    `fma` is a fused multiply-add and `f32(…)` converts an integer to f32.

    - (C1) `weight` has as many columns as `input` has features.
    - (C2) `bias` has as many elements as `weight` has rows.
    - (C3) `multiplier` and `residual` have the result's type.
    - (C4) A `precision` other than f32 needs f32 tensors. Int8 also needs at most 65536 features of `input`: on some
      targets the quantized values of `input` are stored as unsigned bytes, those of `weight` are signed bytes, and a
      sum of their products must fit in 32 bits.
    - (C5) A `format` needs f32 tensors and fewer than 2^31 features of `input`. The formats bf16 and f16 need the
      precision f32.
    - (N1) With `precision` f32 and without a `format` of integers, the sum over k starts from the value 0 and adds the
      terms in f32, with one fused multiply-add per term, in order of increasing k. The bias is added afterwards. A GPU
      divides the T rows into thread-block tiles of 64 rows; the last tile has the rows that remain. In tiles of more
      than 16 rows the order is the same. In a tile of up to 16 rows there are 32 partial sums: partial sum i starts
      from 0 and adds the terms with `k mod 32 = i` in order of k, and the partial sums are then added in order of i. On
      a CPU, if K is above 2048, `weight` is a weight of the model, and there is neither an activation nor a multiplier,
      `xfmr-split-deep-projections` replaces the operation by several, each for a range of k and with the order above:
      the first adds bias and residual, each of the others adds the result of the one before it. The epilogue is
      computed in f32 for every `precision` and `format`.
    - (N2) With `precision` bf16 or f16 and no `format`, `input` and `weight` are first rounded to this type, to
      nearest, ties to even. Products are added in f32, in an order that depends on the target. On a CPU the order is
      the same for every row. On a GPU it is the same for all T rows and depends on the kernel, which T, N and the kind
      of GPU select; for example, there is one for up to 16 rows. In f16, an element of `input` of magnitude 65520 or
      more becomes infinite; a finite element of `weight` of such a magnitude is an error of the packer.
    - (N3) With `precision` int8 and no `format`, `weight[n, k]` is approximated by `q[n, k] * s[n]` with 8-bit integers
      q and one scale s per row (see `xfmr.weight_quantize`), and `input[t, k]` by `p[t, k] * r[t]` with 8-bit integers
      p and `r[t] = max_k |input[t, k]| / 127` (see `tile.quantize_rows`). The sum over k of `p[t, k] * q[n, k]` is
      exact in i32. The sum is converted to f32, multiplied by `s[n]`, then by `r[t]`, and rounded after each of these
      three steps.
    - (N4) With a `format` of integers and the precision int8, `weight[n, k]` is approximated by
      `scale[n, g] * q[n, k] + minimum[n, g]`, where g is the group of column k (see `#xfmr.weight_format`), and
      `input[t, k]` by `p[t, k] * r[t, g]` with 8-bit integers p and the same groups (see `tile.quantize_rows`). The
      accumulator `acc` of `result[t, n]` begins as +0. For each group g in order, with sums over the columns k of g,
      `acc = fma(f32(sum_k p[t, k] * q[n, k]), r[t, g] * scale[n, g], acc)` and then, if the format has minima,
      `acc = fma(minimum[n, g], r[t, g] * f32(sum_k p[t, k]), acc)`. Sums of integers are exact. If a group of row t of
      `input` has an infinity or NaN, `acc` is NaN for the whole row t; a group whose magnitudes are all below 2^-119
      counts as zeros.
    - (N5) With a `format` of integers and the precision f32, weights are approximated as in N4, and `input` is not
      rounded. `acc` begins as +0. The columns are in blocks of 32, or of 16 if a group has 16, which follow in order.
      For each block, `sum` begins as +0 and becomes `fma(q[n, k], input[t, k], sum)` for each column k of the block in
      order; then `acc = fma(scale[n, g], sum, acc)` for the group g of the block and, with minima,
      `acc = fma(minimum[n, g], sum_k input[t, k], acc)` with k in the block. N2 of `tile.grouped_product` has the order
      of `sum_k input[t, k]`. With the precision bf16 or f16, `input` is first rounded to this type. On a CPU, which has
      no f16, the orders are those of the precision f32, except that an instruction for products of bf16, if the CPU has
      it, adds the products of two neighboring columns to `sum` at once. On a GPU, tensor cores compute `sum` and
      `sum_k input[t, k]` in an order of their own, and T decides the order of the blocks. If `T <= 16`, `acc` is the
      sum of four parts, added in order of i from 0 to 3: part i is the `acc` of the blocks whose columns k have
      `floor(k / 32) mod 4 = i`. If `T > 16`, `acc` is computed from all blocks in order. In this case the blocks have
      64 columns instead, the last one those that remain, if the GPU is an sm_90a and all of these hold: the number of
      columns of a group is a multiple of 64, or a group is a whole row; K is above 48; the format has no minima; T and
      N are large enough for the wide thread-block tiles of `attune-tile-groups`.
    - (N6) With the `format` bf16 or f16, `weight` is first rounded to this type, to nearest, ties to even; the sum is
      that of N1. A finite weight that would become infinite is an error of the packer.

    ```mlir
    %y = xfmr.linear %x, %w bias(%b) {activation = #xfmr.activation<gelu>} : tensor<?x48xf32>, tensor<112x48xf32>, bias tensor<112xf32>
    %z = xfmr.linear %x, %w {precision = #xfmr.precision<int8>} : tensor<?x48xf32>, tensor<112x48xf32>
    %q = xfmr.linear %x, %w {format = #xfmr.weight_format<"int4:32">, precision = #xfmr.precision<int8>}
        : tensor<?x48xf32>, tensor<112x48xf32>
    %r = xfmr.linear %x, %w {format = #xfmr.weight_format<"int4:32">} : tensor<?x48xf32>, tensor<112x48xf32>
    %h = xfmr.linear %x, %w {format = #xfmr.weight_format<"bf16">} : tensor<?x48xf32>, tensor<112x48xf32>
    ```
  }];
  let arguments = (ins Xfmr_Tokens:$input, Xfmr_Matrix:$weight, Optional<Xfmr_Vector>:$bias, Optional<Xfmr_Tokens>:$multiplier,
                       Optional<Xfmr_Tokens>:$residual,
                       DefaultValuedAttr<Xfmr_ActivationAttr, "::mlir::xfmr::Activation::None">:$activation,
                       DefaultValuedAttr<Xfmr_PrecisionAttr, "::mlir::xfmr::Precision::F32">:$precision,
                       OptionalAttr<Xfmr_WeightFormatAttr>:$format);
  let results = (outs Xfmr_Tokens:$result);
  let assemblyFormat = [{
    $input `,` $weight (`bias` `(` $bias^ `)`)? (`multiplier` `(` $multiplier^ `)`)? (`residual` `(` $residual^ `)`)? attr-dict
    `:` type($input) `,` type($weight) `` custom<EpilogueTypes>(type($bias), type($multiplier), type($residual))
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::mlir::Value":$weight, "::mlir::Value":$bias, "::mlir::Value":$residual,
                                 "::mlir::xfmr::Activation":$activation,
                                 CArg<"::mlir::xfmr::Precision", "::mlir::xfmr::Precision::F32">:$precision), [{
    build($_builder, $_state, input, weight, bias, ::mlir::Value(), residual, activation, precision, ::mlir::xfmr::WeightFormatAttr());
  }]>];
  let hasVerifier = 1;
}

#endif // XFMR_LINEAR_OPS_TD
