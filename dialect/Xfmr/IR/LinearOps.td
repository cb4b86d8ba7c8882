//===- LinearOps.td - Projections, feed-forward, norms, elementwise -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef XFMR_LINEAR_OPS_TD
#define XFMR_LINEAR_OPS_TD

include "dialect/Xfmr/IR/XfmrAttrs.td"
include "dialect/Xfmr/IR/XfmrTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Xfmr_LinearOp : Xfmr_Op<"linear", [Pure, AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let summary = "projection with its epilogue: activation(x W^T + b) * multiplier + residual";
  let description = [{
    `result[t, n] = activation(sum_k input[t, k] * weight[n, k] + bias[n]) * multiplier[t, n] + residual[t, n]`

    - (C1) `weight` has as many columns as `input` has features.
    - (C2) `bias` has as many elements as `weight` has rows.
    - (C3) `multiplier` and `residual` have the result's type.
    - (C4) `precision` other than f32 is for f32 tensors; int8 for at most 65536 features, so that sums fit 32 bits.
    - (N1) The sum runs over k in order with one fused multiply-add per term, from 0, in f32; the bias is added after it.
    - (N2) With `precision` bf16 or f16, `input` and `weight` are rounded to it (nearest and even) before; products are added in f32, in an order that is
      the same for every row, but not the same on every target. Beyond 65504, f16 is infinite.
    - (N3) With `precision` int8, `weight[n, k] = q[n, k] s[n]` with 8-bit codes and one scale per row (`xfmr.weight_codes`), and likewise
      `input[t, k] = p[t, k] r[t]` with `r[t] = max_k |input[t, k]| / 127`. `sum_k p q` is exact; `(sum s[n]) r[t]` is rounded twice in f32.

    ```mlir
    %y = xfmr.linear %x, %w bias(%b) {activation = #xfmr.activation<gelu>} : tensor<?x48xf32>, tensor<112x48xf32>, bias tensor<112xf32>
    %z = xfmr.linear %x, %w {precision = #xfmr.precision<int8>} : tensor<?x48xf32>, tensor<112x48xf32>
    ```
  }];
  let arguments = (ins Xfmr_Tokens:$input, Xfmr_Matrix:$weight, Optional<Xfmr_Vector>:$bias, Optional<Xfmr_Tokens>:$multiplier,
                       Optional<Xfmr_Tokens>:$residual, DefaultValuedAttr<Xfmr_ActivationAttr, "::mlir::xfmr::Activation::None">:$activation,
                       DefaultValuedAttr<Xfmr_PrecisionAttr, "::mlir::xfmr::Precision::F32">:$precision);
  let results = (outs Xfmr_Tokens:$result);
  let assemblyFormat = [{
    $input `,` $weight (`bias` `(` $bias^ `)`)? (`multiplier` `(` $multiplier^ `)`)? (`residual` `(` $residual^ `)`)? attr-dict
    `:` type($input) `,` type($weight) `` custom<EpilogueTypes>(type($bias), type($multiplier), type($residual))
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::mlir::Value":$weight, "::mlir::Value":$bias, "::mlir::Value":$residual,
                                 "::mlir::xfmr::Activation":$activation, CArg<"::mlir::xfmr::Precision", "::mlir::xfmr::Precision::F32">:$precision), [{
    build($_builder, $_state, input, weight, bias, ::mlir::Value(), residual, activation, precision);
  }]>];
  let hasVerifier = 1;
}

def Xfmr_FfnOp : Xfmr_Op<"ffn", [Pure, AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let summary = "two projections with an activation between them, or three with a gate";
  let description = [{
    `result = activation(input up^T + up_bias) down^T + down_bias + residual`; with `gate`,
    `result = (activation(input gate^T + gate_bias) * (input up^T + up_bias)) down^T + down_bias + residual`

    - (C1) `up` and `gate` are `[M, N]` for an input of N features, `down` is `[N', M]`.
    - (C2) Biases have as many elements as their matrices have rows; there are all or none.
    - (C3) `residual` has the result's type.

    ```mlir
    %y = xfmr.ffn <gelu> %x, %up, %down bias(%b0, %b1) : tensor<?x48xf32>, tensor<112x48xf32>, tensor<48x112xf32>, bias tensor<112xf32>, tensor<48xf32>
    %z = xfmr.ffn <silu> %x, %up, %down gate(%gate : tensor<112x48xf32>) : tensor<?x48xf32>, tensor<112x48xf32>, tensor<48x112xf32>
    ```
  }];
  let arguments = (ins Xfmr_ActivationAttr:$activation, Xfmr_Tokens:$input, Xfmr_Matrix:$up, Xfmr_Matrix:$down, Optional<Xfmr_Matrix>:$gate,
                       Optional<Xfmr_Vector>:$gate_bias, Optional<Xfmr_Vector>:$up_bias, Optional<Xfmr_Vector>:$down_bias,
                       Optional<Xfmr_Tokens>:$residual);
  let results = (outs Xfmr_Tokens:$result);
  let assemblyFormat = [{
    $activation $input `,` $up `,` $down (`gate` `(` $gate^ (`,` $gate_bias^)? `:` type($gate) (`,` type($gate_bias)^)? `)`)?
    (`bias` `(` $up_bias^ `,` $down_bias `)`)? (`residual` `(` $residual^ `)`)? attr-dict
    `:` type($input) `,` type($up) `,` type($down) `` custom<FfnEpilogueTypes>(type($up_bias), type($down_bias), type($residual))
  }];
  let builders = [OpBuilder<(ins "::mlir::xfmr::Activation":$activation, "::mlir::Value":$input, "::mlir::Value":$up, "::mlir::Value":$down,
                                 "::mlir::Value":$up_bias, "::mlir::Value":$down_bias, "::mlir::Value":$residual), [{
    build($_builder, $_state, activation, input, up, down, ::mlir::Value(), ::mlir::Value(), up_bias, down_bias, residual);
  }]>];
  let hasVerifier = 1;
}

def Xfmr_LayerNormOp : Xfmr_Op<"layer_norm", [Pure, InferTypeOpAdaptor]> {
  let summary = "rows of input (+ residual) brought to mean 0 and variance 1, then scaled and shifted";
  let description = [{
    `x = input + residual`, `result[t, i] = (x[t, i] - mean(x[t])) / sqrt(variance(x[t]) + epsilon) * weight[i] + bias[i]`

    - (C1) `weight` and `bias` have as many elements as the last dimension of `input`.
    - (C2) `residual` has the type of `input`.
    - (C3) `epsilon` is not negative.
    - (N1) Mean and variance (of the differences from the mean, not E[x^2] - mean^2) are accumulated in f32, in 16 lanes joined by a fixed
      tree; `1 / sqrt` is a square root and a division.

    ```mlir
    %y = xfmr.layer_norm %x, %g, %b residual(%r : tensor<?x48xf32>) {epsilon = 1.0e-12 : f64} : tensor<?x48xf32>, tensor<48xf32>, tensor<48xf32>
    ```
  }];
  let arguments = (ins Xfmr_Tokens:$input, Xfmr_Vector:$weight, Xfmr_Vector:$bias, Optional<Xfmr_Tokens>:$residual, F64Attr:$epsilon);
  let results = (outs Xfmr_Tokens:$result);
  let assemblyFormat = [{
    $input `,` $weight `,` $bias (`residual` `(` $residual^ `:` type($residual) `)`)? attr-dict `:` type($input) `,` type($weight) `,` type($bias)
  }];
  let hasVerifier = 1;
}

def Xfmr_RmsNormOp : Xfmr_Op<"rms_norm", [Pure, InferTypeOpAdaptor]> {
  let summary = "rows of input (+ residual) divided by their root mean square, then scaled";
  let description = [{
    `x = input + residual`, `result[t, i] = x[t, i] / sqrt(mean_j(x[t, j]^2) + epsilon) * weight[i]`

    - (C1) `weight` has as many elements as the last dimension of `input`.
    - (C2) `residual` has the type of `input`.
    - (C3) `epsilon` is not negative.
    - (N1) The mean is accumulated in f32, in 16 lanes joined by a fixed tree; `1 / sqrt` is a square root and a division.

    ```mlir
    %y = xfmr.rms_norm %x, %g residual(%r : tensor<?x48xf32>) {epsilon = 1.0e-6 : f64} : tensor<?x48xf32>, tensor<48xf32>
    ```
  }];
  let arguments = (ins Xfmr_Tokens:$input, Xfmr_Vector:$weight, Optional<Xfmr_Tokens>:$residual, F64Attr:$epsilon);
  let results = (outs Xfmr_Tokens:$result);
  let assemblyFormat = [{
    $input `,` $weight (`residual` `(` $residual^ `:` type($residual) `)`)? attr-dict `:` type($input) `,` type($weight)
  }];
  let hasVerifier = 1;
}

def Xfmr_ActivationOp : Xfmr_Op<"activation", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "an activation function on every element";
  let description = [{
    ```mlir
    %y = xfmr.activation <tanh> %x : tensor<?x48xf32>
    ```
  }];
  let arguments = (ins Xfmr_ActivationAttr:$kind, RankedTensorOf<[Xfmr_Float]>:$input);
  let results = (outs RankedTensorOf<[Xfmr_Float]>:$result);
  let assemblyFormat = "$kind $input attr-dict `:` type($input)";
  let hasFolder = 1;
}

def Xfmr_SoftmaxOp : Xfmr_Op<"softmax", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "exponentials of each row, divided by their sum (or its logarithm, with `log`)";
  let description = [{
    `result[t, i] = exp(input[t, i] - max_j input[t, j]) / sum_j exp(...)`; with `log`, `input - max - log(sum)`.

    - (C1) The last dimension is static.
    - (N1) f32; sums in 16 lanes joined by a fixed tree.

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
  let summary = "training-time noise; the identity at inference, where it folds away";
  let description = [{
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

#endif // XFMR_LINEAR_OPS_TD
