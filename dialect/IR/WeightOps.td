//===- WeightOps.td - Weights and expressions over them -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef XFMR_WEIGHT_OPS_TD
#define XFMR_WEIGHT_OPS_TD

include "dialect/IR/XfmrAttrs.td"
include "dialect/IR/XfmrTypes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Xfmr_WeightOp : Xfmr_Op<"weight", [Symbol]> {
  let summary = "declare a constant whose elements stay outside the IR";
  let description = [{
    Names a tensor and says how its elements follow from the tensors of the model folder. Passes rewrite `source`; the packer streams it
    into the weights file, so compile time and memory do not depend on the number of elements.

    - (C1) `type` has static shape.
    - (C2) `source` is a weight source whose type is `type`.
    - (N1) Elements are converted from the file's dtype to the element type of `type`, rounded once.

    ```mlir
    xfmr.weight @"pooler.dense.weight" : tensor<8x8xf32> = #xfmr.tensor<"pooler.dense.weight" : tensor<8x8xf32>>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<StrAttr>:$sym_visibility, TypeAttrOf<AnyRankedTensor>:$type, AnyAttr:$source);
  let assemblyFormat = "($sym_visibility^)? $sym_name `:` $type `=` $source attr-dict";
  let hasVerifier = 1;
}

def Xfmr_WeightRefOp : Xfmr_Op<"weight_ref", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the value of a weight";
  let description = [{
    - (C1) `weight` names an `xfmr.weight` of the result's type.

    ```mlir
    %w = xfmr.weight_ref @"pooler.dense.weight" : tensor<8x8xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$weight);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$weight attr-dict `:` type($result)";
}

/// An op that only rearranges weights; `xfmr-hoist-weight-expressions` folds it into the source of a new weight.
class Xfmr_WeightExpr<string mnemonic> : Xfmr_Op<mnemonic, [Pure, InferTypeOpAdaptor]>;

def Xfmr_WeightConcatOp : Xfmr_WeightExpr<"weight_concat"> {
  let summary = "weights joined along an axis, as one constant";
  let description = [{
    - (C1) All operands have the same rank, element type and sizes except along `axis`, which is one of their dimensions.

    ```mlir
    %qkv = xfmr.weight_concat 0, %wq, %wk, %wv : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
    ```
  }];
  let arguments = (ins I64Attr:$axis, Variadic<AnyStaticShapeTensor>:$weights);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$axis `,` $weights attr-dict `:` type($weights)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Xfmr_WeightPackOp : Xfmr_WeightExpr<"weight_pack"> {
  let summary = "a weight matrix in column panels, the layout GEMM kernels stream";
  let description = [{
    `result[p, k, j] = weight[p * width + j, k]`, zero where `p * width + j` is beyond the matrix.

    - (C1) `width` is positive.

    ```mlir
    %p = xfmr.weight_pack %w, 32 : tensor<100x48xf32>   // tensor<4x48x32xf32>
    ```
  }];
  let arguments = (ins Xfmr_Matrix:$weight, I64Attr:$width);
  let results = (outs 3DTensorOf<[Xfmr_Float]>:$result);
  let assemblyFormat = "$weight `,` $width attr-dict `:` type($weight)";
}

def Xfmr_WeightTransposeOp : Xfmr_WeightExpr<"weight_transpose"> {
  let summary = "a weight matrix transposed";
  let description = [{
    `result[i, j] = weight[j, i]`

    ```mlir
    %t = xfmr.weight_transpose %w : tensor<100x48xf32>
    ```
  }];
  let arguments = (ins Xfmr_Matrix:$weight);
  let results = (outs Xfmr_Matrix:$result);
  let assemblyFormat = "$weight attr-dict `:` type($weight)";
  let hasFolder = 1;
}

#endif // XFMR_WEIGHT_OPS_TD
