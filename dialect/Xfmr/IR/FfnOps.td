//===- FfnOps.td - Feed-forward networks -------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef XFMR_FFN_OPS_TD
#define XFMR_FFN_OPS_TD

include "dialect/Xfmr/IR/XfmrAttrs.td"
include "dialect/Xfmr/IR/XfmrTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Xfmr_FfnOp : Xfmr_Op<"ffn", [Pure, AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let summary = "computes two projections with an activation between them, or three with a gate";
  let description = [{
    The result is the first line below or, with `gate`, the second, where `*` multiplies element by element:

        activation(input up^T + up_bias) down^T + down_bias + residual
        (activation(input gate^T + gate_bias) * (input up^T + up_bias)) down^T + down_bias + residual

    `input` is a token tensor `[T, N]`. An absent bias or residual is not added. The description of `xfmr.activation`
    has the formulas of activations. `xfmr-decompose-composites` rewrites each projection as an `xfmr.linear`, and the
    arithmetic is that of `xfmr.linear`.

    - (C1) `up` and `gate` are `[M, N]`, of the same type, and `down` is `[N', M]`, where M is the number of features
      between the projections. The result is `[T, N']`.
    - (C2) A bias has as many elements as its matrix has rows. Either each of the two or three matrices has a bias or
      none has.
    - (C3) `residual` has the result's type.

    ```mlir
    %y = xfmr.ffn <gelu> %x, %up, %down bias(%b0, %b1)
        : tensor<?x48xf32>, tensor<112x48xf32>, tensor<48x112xf32>, bias tensor<112xf32>, tensor<48xf32>
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

#endif // XFMR_FFN_OPS_TD
