//===- ActivationOps.td - Activations, softmax and dropout -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef XFMR_ACTIVATION_OPS_TD
#define XFMR_ACTIVATION_OPS_TD

include "dialect/Xfmr/IR/XfmrAttrs.td"
include "dialect/Xfmr/IR/XfmrTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Xfmr_ActivationOp : Xfmr_Op<"activation", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "applies an activation function to every element";
  let description = [{
    `result[…] = f(input[…])` for a tensor of any shape. The attribute `kind` selects f:

    | kind | f(x) |
    |---|---|
    | `none` | x; the operation folds to its input |
    | `gelu` | x / 2 * (1 + erf(x / sqrt(2))) |
    | `gelu_tanh` | x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) |
    | `relu` | max(x, 0) |
    | `silu` | x / (1 + exp(-x)) |
    | `tanh` | tanh(x) |
    | `quick_gelu` | x / (1 + exp(-1.702 x)) |
    | `sigmoid` | 1 / (1 + exp(-x)) |
    | `relu6` | min(max(x, 0), 6) |
    | `squared_relu` | max(x, 0)^2 |
    | `leaky_relu` | x if x > 0, else 0.01 x |

    - (N1) Arithmetic is f32. exp, tanh and erf are computed by polynomials, with errors of at most 0.9, 1.7 and 1.2
      ulp, respectively, where one ulp is the spacing of f32 at the exact result. An exp below 2^-126 becomes 0. A NaN
      stays NaN.

    ```mlir
    %y = xfmr.activation <tanh> %x : tensor<?x48xf32>
    ```
  }];
  let arguments = (ins Xfmr_ActivationAttr:$kind, RankedTensorOf<[F32]>:$input);
  let results = (outs RankedTensorOf<[F32]>:$result);
  let assemblyFormat = "$kind $input attr-dict `:` type($input)";
  let hasFolder = 1;
}

def Xfmr_ClampedGluOp : Xfmr_Op<"clamped_glu", [Pure, AllTypesMatch<["gate", "up", "result"]>]> {
  let summary = "multiplies a clamped and activated gate by a clamped value plus 1";
  let description = [{
    `result = (max(-limit, min(up, limit)) + 1) * (g / (1 + exp(-alpha * g)))` with `g = min(gate, limit)`, for each
    element of the token tensors `gate` and `up`, both `[T, N]`. The experts of GPT-OSS apply this function between
    their projections.

    - (C1) `limit` is positive.
    - (N1) Arithmetic is f32, with the exp of `xfmr.activation`, and `limit` and `alpha` are rounded to f32. A NaN stays
      NaN.

    ```mlir
    %y = xfmr.clamped_glu %gate, %up {alpha = 1.702 : f64, limit = 7.0 : f64} : tensor<?x48xf32>
    ```
  }];
  let arguments = (ins Xfmr_Tokens:$gate, Xfmr_Tokens:$up, F64Attr:$limit, F64Attr:$alpha);
  let results = (outs Xfmr_Tokens:$result);
  let assemblyFormat = "$gate `,` $up attr-dict `:` type($gate)";
  let hasVerifier = 1;
}

def Xfmr_SoftmaxOp : Xfmr_Op<"softmax", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "computes the softmax of each row or, with `log`, the logarithm of the softmax";
  let description = [{
    `input` is `[T, N]`. With the maximum `m = max_j input[t, j]` of row t and the sum `s = sum_j exp(input[t, j] - m)`,
    both over all columns j, `result[t, i] = exp(input[t, i] - m) / s`; with `log`,
    `result[t, i] = input[t, i] - m - log(s)`.

    - (C1) N, the number of columns, is static.
    - (N1) Arithmetic is f32, with the exp of `xfmr.activation` and a log with an error of at most 0.9 ulp. On a CPU, s
      is the sum of 16 partial sums: for l from 0 to 15, partial sum l adds the terms of the columns l, l + 16, l + 32,
      … in order. The partial sums are then added in pairs: l and l + 8 for each l below 8, then l and l + 4 for each l
      below 4, then l and l + 2 for each l below 2, and finally 0 and 1. On a GPU there are 32 partial sums: partial sum
      l adds the terms of the columns l, l + 32, …, and the pairs begin with l and l + 16 for each l below 16.
    - (N2) If a row has a NaN or +infinity, or has -infinity in every column, all results of the row are NaN.

    ```mlir
    %p = xfmr.softmax %x : tensor<?x48xf32>
    ```
  }];
  let arguments = (ins Xfmr_Tokens:$input, UnitAttr:$log);
  let results = (outs Xfmr_Tokens:$result);
  let assemblyFormat = "(`log` $log^)? $input attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def Xfmr_DropoutOp : Xfmr_Op<"dropout", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "marks where training drops features at random; the operation is the identity and folds away";
  let description = [{
    `result = input`. The importer emits the operation where the model has dropout, so that an imported module can be
    compared with the model step by step. `rate`, the share of features that training drops, has no effect.

    - (C1) `0 <= rate <= 1`.

    ```mlir
    %y = xfmr.dropout %x {rate = 0.1 : f64} : tensor<?x48xf32>
    ```
  }];
  let arguments = (ins RankedTensorOf<[Xfmr_Float]>:$input, F64Attr:$rate);
  let results = (outs RankedTensorOf<[Xfmr_Float]>:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // XFMR_ACTIVATION_OPS_TD
