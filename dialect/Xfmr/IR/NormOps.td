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
  let summary = "normalizes rows of input (+ residual) to mean 0 and variance 1, then scales and shifts them";
  let description = [{
    With `x = input + residual`, or `input` without a residual, and with mean and variance over the columns i of row t:

        result[t, i] = (x[t, i] - mean(x[t])) / sqrt(variance(x[t]) + epsilon) * weight[i] + bias[i]

    Where `input` is `[T, H, D]`, each head is a row: x[t, h] in place of x[t].

    - (C1) `weight` and `bias` have as many elements as the last dimension of `input`.
    - (C2) `residual` has the type of `input`, which is `[T, N]` then.
    - (C3) `epsilon` is not negative.
    - (N1) Arithmetic is f32. The variance is the mean of the squared differences from the mean, not E[x^2] - mean^2. On
      a CPU the sum of each mean is computed as 16 partial sums, the l-th of the columns l, l + 16, l + 32, …. These are
      added in pairs: l and l + 8, then l and l + 4, l + 2, l + 1. On a GPU there are 32 partial sums, of the columns l,
      l + 32, …, and the first pairs are l and l + 16. A sum is multiplied by `1 / N`, not divided by N, the number of
      columns. The difference `x[t, i] - mean(x[t])` is multiplied by `1 / sqrt(…)`, which is computed once for each row
      by a square root and a division. `weight` and `bias` enter by a fused multiply-add.

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
  let summary = "divides rows of input (+ residual) by their root mean square, then scales them";
  let description = [{
    With `x = input + residual`, or `input` without a residual, and with the mean over the columns j of row t:

        result[t, i] = x[t, i] / sqrt(mean_j(x[t, j]^2) + epsilon) * weight[i]

    Where `input` is `[T, H, D]`, each head is a row: x[t, h] in place of x[t].

    - (C1) `weight` has as many elements as the last dimension of `input`.
    - (C2) `residual` has the type of `input`, which is `[T, N]` then.
    - (C3) `epsilon` is not negative.
    - (N1) Arithmetic is f32. On a CPU the sum of the mean is computed as 16 partial sums, the l-th of the columns l,
      l + 16, l + 32, …. These are added in pairs: l and l + 8, then l and l + 4, l + 2, l + 1. On a GPU there are 32
      partial sums, of the columns l, l + 32, …, and the first pairs are l and l + 16. The sum is multiplied by `1 / N`,
      not divided by N, the number of columns. `x[t, i]` is multiplied by `1 / sqrt(…)`, which is computed once for each
      row by a square root and a division, then by `weight[i]`.

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
