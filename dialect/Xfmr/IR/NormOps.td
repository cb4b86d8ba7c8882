//===- NormOps.td - Layer and RMS normalization ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef XFMR_NORM_OPS_TD
#define XFMR_NORM_OPS_TD

include "dialect/Xfmr/IR/XfmrAttrs.td"
include "dialect/Xfmr/IR/XfmrTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Xfmr_LayerNormOp : Xfmr_Op<"layer_norm", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "normalizes rows of input (+ residual) to mean 0 and variance 1, then scales and shifts their columns";
  let description = [{
    Let `x` be `input + residual`, or `input` without a residual. The mean and the variance are those of row t, over its
    columns i:

        result[t, i] = (x[t, i] - mean(x[t])) / sqrt(variance(x[t]) + epsilon) * weight[i] + bias[i]

    If `input` is `[T, H, D]`, each head of a token is a row: `x[t, h, i]` takes the place of `x[t, i]`.

    - (C1) `weight` and `bias` have as many elements as the last dimension of `input`.
    - (C2) With a `residual`, `input` is `[T, N]`. Both have the same element type, and the same size in each dimension
      that is static in both.
    - (C3) `epsilon` is not negative.
    - (N1) Arithmetic is f32. The variance is the mean of the squared differences from the mean, not E[x^2] - mean^2. On
      a CPU, the sum of a row and the sum of its squared differences are each the sum of 16 partial sums: for l from 0
      to 15, partial sum l adds the terms of the columns l, l + 16, l + 32, … in order. The partial sums are then added
      in pairs: l and l + 8 for each l below 8, then l and l + 4 for each l below 4, then l and l + 2 for each l below
      2, and finally 0 and 1. On a GPU there are 32 partial sums: partial sum l adds the terms of the columns l, l + 32,
      …, and the pairs begin with l and l + 16 for each l below 16. A mean is the sum times `1 / N`, a constant rounded
      to f32, where N is the number of columns. The difference `x[t, i] - mean(x[t])` is multiplied by `1 / sqrt(…)`,
      which is the result of a square root and a division. Fused multiply-adds add the squares to their sum, `epsilon`
      to the variance and `bias` to the product with `weight`.

    ```mlir
    %y = xfmr.layer_norm %x, %g, %b residual(%r : tensor<?x48xf32>) {epsilon = 1.0e-12 : f64}
        : tensor<?x48xf32>, tensor<48xf32>, tensor<48xf32>
    ```
  }];
  let arguments = (ins Xfmr_TokensOrHeads:$input, Xfmr_Vector:$weight, Xfmr_Vector:$bias,
                          Optional<Xfmr_Tokens>:$residual, F64Attr:$epsilon);
  let results = (outs Xfmr_TokensOrHeads:$result);
  let assemblyFormat = [{
    $input `,` $weight `,` $bias (`residual` `(` $residual^ `:` type($residual) `)`)? attr-dict
    `:` type($input) `,` type($weight) `,` type($bias)
  }];
  let hasVerifier = 1;
}

def Xfmr_RmsNormOp : Xfmr_Op<"rms_norm", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "divides rows of input (+ residual) by their root mean square, then scales their columns";
  let description = [{
    Let `x` be `input + residual`, or `input` without a residual. `mean_j` is the mean over the columns j of row t:

        result[t, i] = x[t, i] / sqrt(mean_j(x[t, j]^2) + epsilon) * weight[i]

    If `input` is `[T, H, D]`, each head of a token is a row: `x[t, h, i]` takes the place of `x[t, i]`.

    - (C1) `weight` has as many elements as the last dimension of `input`.
    - (C2) With a `residual`, `input` is `[T, N]`. Both have the same element type, and the same size in each dimension
      that is static in both.
    - (C3) `epsilon` is not negative.
    - (N1) Arithmetic is f32. On a CPU, the sum of the squares of a row is the sum of 16 partial sums: for l from 0 to
      15, partial sum l adds the squares of the columns l, l + 16, l + 32, … in order. The partial sums are then added
      in pairs: l and l + 8 for each l below 8, then l and l + 4 for each l below 4, then l and l + 2 for each l below
      2, and finally 0 and 1. On a GPU there are 32 partial sums: partial sum l adds the squares of the columns l,
      l + 32, …, and the pairs begin with l and l + 16 for each l below 16. The mean is the sum times `1 / N`, a
      constant rounded to f32, where N is the number of columns. `x[t, i]` is multiplied by `1 / sqrt(…)`, which is the
      result of a square root and a division, then by `weight[i]`. Fused multiply-adds add the squares to their sum and
      `epsilon` to the mean.

    ```mlir
    %y = xfmr.rms_norm %x, %g residual(%r : tensor<?x48xf32>) {epsilon = 1.0e-6 : f64} : tensor<?x48xf32>, tensor<48xf32>
    ```
  }];
  let arguments = (ins Xfmr_TokensOrHeads:$input, Xfmr_Vector:$weight, Optional<Xfmr_Tokens>:$residual, F64Attr:$epsilon);
  let results = (outs Xfmr_TokensOrHeads:$result);
  let assemblyFormat = [{
    $input `,` $weight (`residual` `(` $residual^ `:` type($residual) `)`)? attr-dict `:` type($input) `,` type($weight)
  }];
  let hasVerifier = 1;
}

#endif // XFMR_NORM_OPS_TD
