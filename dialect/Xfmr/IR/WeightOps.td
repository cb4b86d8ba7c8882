//===- WeightOps.td - Weights and expressions over them ----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef XFMR_WEIGHT_OPS_TD
#define XFMR_WEIGHT_OPS_TD

include "dialect/Xfmr/IR/XfmrAttrs.td"
include "dialect/Xfmr/IR/XfmrTypes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Xfmr_WeightOp : Xfmr_Op<"weight", [Symbol]> {
  let summary = "declares a constant whose elements stay outside the IR";
  let description = [{
    Names a tensor. `source` is the expression that computes its elements from the tensors of the model folder. Passes
    declare further weights, with other expressions over the same tensors, and erase weights without uses. No pass reads
    elements, so the time and the memory of passes do not depend on the number of elements. The packer, which runs after
    the phase `target` if an object is made, evaluates `source` and streams the elements into the weights file
    (docs/formats.md).

    - (C1) `type` has static shape, no size is 0, its elements are integers or floats, and all of them together have
      fewer than 2^63 bits.
    - (C2) `source` is a weight source: `#xfmr.tensor`, `#xfmr.fill`, `#xfmr.computed` or an expression over these. Its
      type is `type`.
    - (C3) `offset`, the first byte of the weight in the data section of the weights file, is not negative and a
      multiple of 64, the size of a cache line.
    - (C4) A weight with an offset ends within the data section, whose size in bytes is the attribute
      `xfmr.weights_bytes` of the module.
    - (N1) Elements are computed in f32: a tensor of f64 is rounded to f32, the results of each step of an expression
      are rounded to f32, and those of the last step are rounded to the element type of `type`. The packer reports an
      error for a tensor of integers in the folder. Weights of integers come only from expressions that quantize a
      matrix of floats (`#xfmr.row_quantized`, `#xfmr.quantized_panels`) or sum quantized rows (`#xfmr.row_sums`), and
      from slices, concatenations and other rearrangements of such weights.

    ```mlir
    xfmr.weight @"pooler.dense.weight" : tensor<8x8xf32> = #xfmr.tensor<"pooler.dense.weight" : tensor<8x8xf32>>
    ```

    With its offset, once `attune-assign-weight-offsets` has run:

    ```mlir
    module attributes {xfmr.weights_bytes = 4352 : i64} {
      xfmr.weight @b : tensor<8x8xf32> = #xfmr.tensor<"b" : tensor<8x8xf32>> at 4096
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<StrAttr>:$sym_visibility, TypeAttrOf<AnyRankedTensor>:$type, AnyAttr:$source,
                       OptionalAttr<I64Attr>:$offset);
  let assemblyFormat = "($sym_visibility^)? $sym_name `:` $type `=` $source (`at` $offset^)? attr-dict";
  let hasVerifier = 1;
}

def Xfmr_WeightRefOp : Xfmr_Op<"weight_ref", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "returns the value of a weight";
  let description = [{
    The result is the tensor that `weight` declares. `attune-assign-weight-offsets` replaces the uses of the result by
    views of the weights file in memory. This includes uses in layer functions, to which calls pass the result.

    - (C1) `weight` names an `xfmr.weight` of the result's type.

    ```mlir
    %w = xfmr.weight_ref @"pooler.dense.weight" : tensor<8x8xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$weight);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$weight attr-dict `:` type($result)";
}

/// An operation that computes a weight from weights and infers its type. `xfmr-hoist-weight-expressions` folds these
/// operations, weight_convert and weight_shard into the sources of new weights. An operation on matrices also takes a
/// stack of matrices, `[E, N, K]`, and returns the stack of its E results; only weight_distance_panels and
/// weight_transpose take no stacks. weight_concat joins weights of any rank along an axis.
class Xfmr_WeightExpr<string mnemonic> : Xfmr_Op<mnemonic, [Pure, InferTypeOpAdaptor]>;

def Xfmr_WeightConcatOp : Xfmr_WeightExpr<"weight_concat"> {
  let summary = "concatenates weights along an axis";
  let description = [{
    The result has the elements of the first weight, then those of the second, and so on, along `axis`.

    - (C1) There is at least one operand. All have the same rank, element type and sizes except along `axis`, which is
      one of their dimensions.

    ```mlir
    %qkv = xfmr.weight_concat 0, %wq, %wk, %wv : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>   // tensor<24x8xf32>
    ```
  }];
  let arguments = (ins I64Attr:$axis, Variadic<AnyStaticShapeTensor>:$weights);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$axis `,` $weights attr-dict `:` type($weights)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Xfmr_WeightConvertOp : Xfmr_Op<"weight_convert", [Pure, SameOperandsAndResultShape]> {
  let summary = "rounds the elements of a weight to another float type";
  let description = [{
    The result has the shape of `weight`. Elements are rounded to the element type of the result, to nearest, ties to
    even. A finite element that would become infinite, such as 65520 as f16, is an error of the packer.

    ```mlir
    %b = xfmr.weight_convert %w : tensor<100x48xf32> -> tensor<100x48xbf16>
    ```
  }];
  let arguments = (ins StaticShapeTensorOf<[Xfmr_Float]>:$weight);
  let results = (outs StaticShapeTensorOf<[Xfmr_Float]>:$result);
  let assemblyFormat = "$weight attr-dict `:` type($weight) `->` type($result)";
}

def Xfmr_WeightQuantizeOp : Xfmr_WeightExpr<"weight_quantize"> {
  let summary = "quantizes a weight matrix to int8, with one scale per row";
  let description = [{
    `result[n, k] = round(weight[n, k] / scale[n])` for a matrix `[N, K]`, clamped to -127 to 127, where `round` rounds
    to nearest, ties to even, and `scale` is the result of `xfmr.weight_scales`. The result is 0 where the scale is 0 or
    the quotient is NaN. A stack `[E, N, K]` of matrices becomes the stack of their results.

    ```mlir
    %q = xfmr.weight_quantize %w : tensor<100x48xf32>      // tensor<100x48xi8>
    ```
  }];
  let arguments = (ins Xfmr_Matrices:$weight);
  let results = (outs Xfmr_QuantizedMatrices:$result);
  let assemblyFormat = "$weight attr-dict `:` type($weight)";
}

def Xfmr_WeightQuantizePanelsOp : Xfmr_WeightExpr<"weight_quantize_panels"> {
  let summary = "quantizes a weight matrix by groups of columns and packs it into panels of bytes";
  let description = [{
    The element `weight[n, k]` of a matrix `[N, K]` is approximated by `scale[n, g] * q[n, k] + minimum[n, g]`, where g
    is the group of column k and q are integers (see `#xfmr.weight_format`). A panel has `width` rows of the matrix and
    is stored group by group: first the scales of the `width` rows in group g, then their minima if the format has any,
    then the integers, four neighboring columns of a row side by side. A group with 8-bit integers, whose first column
    is k:

        | width scales | width minima | row 0: k k+1 k+2 k+3 | row 1: k k+1 k+2 k+3 | ... | row 0: k+4 ... |

    With 4 bits, the byte of column k has the integer of this column in its low half and that of column k + 4 in its
    high half. So four bytes of a row have eight columns, and the next four bytes of the row begin at column k + 8.
    Integers are stored without a sign: as `q + 8` with 4 bits, as `q + 128` with 8, and as `q` in formats with minima.
    Rows beyond the matrix have scales and minima 0 and q = 0, columns beyond it have q = 0.

    If the packer finds a scale and a minimum with which the format represents a group exactly, the group keeps its
    values. Otherwise it chooses, from one or more candidates, the scale and the minimum with the smallest sum of
    squared errors, and refines them by least squares. Without minima, each squared error is weighted by a factor that
    grows with the magnitude of its weight. A calibration (`--calibrate`) gives the packer a table, which has the
    scales, minima and integers of some rows of some weights; the packer copies these rows from the table. Infinities
    and NaN count as 0. If the format stores scales as f16, a weight whose scale or minimum may exceed the range of f16
    is an error of the packer.

    The result is `[ceil(N / width), ceil(K / columns), width * (s + columns * bits / 8)]`: panels, groups of a panel
    and bytes of a group. `columns` is the number of columns of a group; if the whole row is one group, it is K rounded
    up to a multiple of 32. `bits` is 4 or 8, the size of an integer. s is the number of bytes of a scale, or, if the
    format has minima, of a scale and a minimum. A stack `[E, N, K]` of matrices becomes the stack of their results.

    - (C1) `weight` has a static shape. `width` is a positive multiple of 16 and at most 4096. The matrix has fewer than
      2^31 columns.
    - (C2) `format` has groups: it is not bf16 or f16.

    ```mlir
    %q = xfmr.weight_quantize_panels %w, 32 format <"int4:32"> : tensor<100x48xf32>   // tensor<4x2x576xi8>
    ```
  }];
  let arguments = (ins Xfmr_Matrices:$weight, I64Attr:$width, Xfmr_WeightFormatAttr:$format);
  let results = (outs TensorRankOf<[I8], [3, 4]>:$result);
  let assemblyFormat = "$weight `,` $width `format` $format attr-dict `:` type($weight)";
}

def Xfmr_WeightScalesOp : Xfmr_WeightExpr<"weight_scales"> {
  let summary = "computes the int8 scale of each row of a weight matrix";
  let description = [{
    `result[n] = max_k |weight[n, k]| / 127`, or `result[e, n] = max_k |weight[e, n, k]| / 127` for a stack of matrices.
    A NaN counts as 0. `xfmr.weight_quantize` divides by these scales.

    ```mlir
    %s = xfmr.weight_scales %w : tensor<100x48xf32>     // tensor<100xf32>
    ```
  }];
  let arguments = (ins Xfmr_Matrices:$weight);
  let results = (outs TensorRankOf<[Xfmr_Float], [1, 2]>:$result);
  let assemblyFormat = "$weight attr-dict `:` type($weight)";
}

def Xfmr_WeightRowSumsOp : Xfmr_WeightExpr<"weight_row_sums"> {
  let summary = "sums each row of an int8 weight matrix";
  let description = [{
    `result[n] = sum_k quantized[n, k]`, or `result[e, n] = sum_k quantized[e, n, k]` for a stack of matrices. Some
    targets have dot products of unsigned by signed bytes only. There, the quantized inputs of an int8 `xfmr.linear` are
    stored with 128 added, and the epilogue subtracts 128 times this sum.

    ```mlir
    %z = xfmr.weight_row_sums %q : tensor<100x48xi8>        // tensor<100xi32>
    ```
  }];
  let arguments = (ins Xfmr_QuantizedMatrices:$quantized);
  let results = (outs TensorRankOf<[I32], [1, 2]>:$result);
  let assemblyFormat = "$quantized attr-dict `:` type($quantized)";
}

def Xfmr_WeightDistancePanelsOp : Xfmr_WeightExpr<"weight_distance_panels"> {
  let summary = "transposes a table of vectors, one per distance, so that neighboring keys read neighboring elements";
  let description = [{
    The table is `[N, heads * D]`. It has a row for each distance, in ascending order, where the distance is the
    position of a query minus that of a key. A row has D components for each head. The result is `[heads, D, N + 30]`,
    with `result[h, d, c] = table[min(max(N - 1 - (c - 15), 0), N - 1), h * D + d]`. Its distances descend along the
    columns c, as they do along the keys of a query. Kernels load 16 neighboring columns at once, one for each of 16
    keys, and up to 15 of these may be beyond the N distances. So 15 copies of the largest distance precede them, and 15
    copies of the smallest follow.

    - (C1) `table` has a static shape. `heads` is positive and divides the number of columns of `table`.

    ```mlir
    %p = xfmr.weight_distance_panels %t, 4 : tensor<63x48xf32>   // tensor<4x12x93xf32>
    ```
  }];
  let arguments = (ins Xfmr_Matrix:$table, I64Attr:$heads);
  let results = (outs TensorRankOf<[Xfmr_Float], [3]>:$result);
  let assemblyFormat = "$table `,` $heads attr-dict `:` type($table)";
}

def Xfmr_WeightPackOp : Xfmr_WeightExpr<"weight_pack"> {
  let summary = "packs a weight matrix into panels of output features, the layout that GEMM kernels stream";
  let description = [{
    `result[p, k, j] = weight[p * width + j, k]`, zero where `p * width + j` is beyond the matrix `[N, K]`. The result
    is `[ceil(N / width), K, width]`.

    With `group` > 1, `result[p, q, j, i] = weight[p * width + j, q * group + i]`, zero where an index is beyond the
    matrix. The result is `[ceil(N / width), K' / group, width, group]`, where K' is K rounded up to a multiple of
    `multiple`. The `group` neighboring columns of a row lie side by side because dot-product instructions add their
    products.

    A stack `[E, N, K]` of matrices becomes the stack of their results.

    - (C1) `weight` has a static shape. `width` and `group` are positive.
    - (C2) `multiple` is a positive multiple of `group`. It is 1 if `group` is 1.

    ```mlir
    %p = xfmr.weight_pack %w, 32 : tensor<100x48xf32>   // tensor<4x48x32xf32>
    %g = xfmr.weight_pack %q, 32 group 4 multiple 64 : tensor<100x48xi8>   // tensor<4x16x32x4xi8>
    ```
  }];
  let arguments = (ins TensorRankOf<[Xfmr_Float, I8], [2, 3]>:$weight, I64Attr:$width, DefaultValuedAttr<I64Attr, "1">:$group,
                       DefaultValuedAttr<I64Attr, "1">:$multiple);
  let results = (outs TensorRankOf<[Xfmr_Float, I8], [3, 4, 5]>:$result);
  let assemblyFormat = "$weight `,` $width (`group` $group^ `multiple` $multiple)? attr-dict `:` type($weight)";
}

def Xfmr_WeightSelectOp : Xfmr_Op<"weight_select", [Pure, InferTypeOpAdaptor]> {
  let summary = "returns one matrix or vector of a stack of weights, chosen at run time";
  let description = [{
    `result = stack[index, …]`, the matrix or vector of one expert (see `xfmr.experts`). Weight expressions are
    evaluated at compile time, when `index` is not known. So the phase `linalg` replaces an expression over the result
    alone, such as `xfmr.weight_pack`, by a slice of the same expression over the whole stack. It replaces other uses of
    the result, such as the use of a bias, by a slice of `stack`. It reports an error if the result is an operand of
    `xfmr.weight_concat`, `xfmr.weight_shard`, `xfmr.weight_transpose` or `xfmr.weight_distance_panels`.

    - (C1) `stack` has rank 2 or more and a static shape. An `index` that is not below the first size of `stack` is
      undefined behavior.

    ```mlir
    %w = xfmr.weight_select %stack[%e] : tensor<8x100x48xf32>   // tensor<100x48xf32>
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$stack, Index:$index);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$stack `[` $index `]` attr-dict `:` type($stack)";
}

def Xfmr_WeightShardOp : Xfmr_Op<"weight_shard", [Pure]> {
  let summary = "returns this rank's shard of a weight";
  let description = [{
    The result has the indices `begins[rank]` to `begins[rank] + S - 1` along `axis` of `input`, where S is the size of
    the result along `axis`. The compiler evaluates the operation once for each rank, when it packs the weights files.
    The files of all ranks have the same layout and differ only in elements.

    - (C1) `axis` is a dimension of `input`. `input` and `result` differ only in the size of this dimension.
    - (C2) `begins` is as in `xfmr.all_gather`, except that here the shards cover `input`, not the result.

    ```mlir
    %s = xfmr.weight_shard %w, 0 at [0, 24] : tensor<48x32xf32> -> tensor<24x32xf32>
    %e = xfmr.weight_shard %experts, 1 at [0, 24] : tensor<8x48x32xf32> -> tensor<8x24x32xf32>
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$input, I64Attr:$axis, DenseI64ArrayAttr:$begins);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$input `,` $axis `at` $begins attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Xfmr_WeightSliceOp : Xfmr_WeightExpr<"weight_slice"> {
  let summary = "slices consecutive columns of a weight matrix";
  let description = [{
    `result[i, j] = weight[i, begin + j]` for j < `end - begin`. A stack `[E, N, K]` of matrices becomes the stack of
    their slices.

    - (C1) `0 <= begin < end`, and `end` is at most the number of columns.

    ```mlir
    %s = xfmr.weight_slice %w, 16 to 48 : tensor<100x48xf32>   // tensor<100x32xf32>
    ```
  }];
  let arguments = (ins Xfmr_Matrices:$weight, I64Attr:$begin, I64Attr:$end);
  let results = (outs Xfmr_Matrices:$result);
  let assemblyFormat = "$weight `,` $begin `to` $end attr-dict `:` type($weight)";
  let hasFolder = 1;
}

def Xfmr_WeightTransposeOp : Xfmr_WeightExpr<"weight_transpose"> {
  let summary = "transposes a weight matrix";
  let description = [{
    `result[i, j] = weight[j, i]`: the result of a matrix `[N, K]` is `[K, N]`.

    ```mlir
    %t = xfmr.weight_transpose %w : tensor<100x48xf32>   // tensor<48x100xf32>
    ```
  }];
  let arguments = (ins Xfmr_Matrix:$weight);
  let results = (outs Xfmr_Matrix:$result);
  let assemblyFormat = "$weight attr-dict `:` type($weight)";
  let hasFolder = 1;
}

#endif // XFMR_WEIGHT_OPS_TD
