//===- XfmrAttrs.td - Attributes of the xfmr dialect -------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef XFMR_ATTRS_TD
#define XFMR_ATTRS_TD

include "dialect/Xfmr/IR/XfmrEnums.td"
include "mlir/IR/AttrTypeBase.td"

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

def Xfmr_ArgumentAttr : AttrDef<Xfmr_Dialect, "Argument"> {
  let mnemonic = "argument";
  let summary = "a symbol of a formula: the value of an index argument, or the size of a dimension of another one";
  let description = [{
    The function is the one that contains the operation with the attribute. Arguments and dimensions are numbered from
    0.

    ```mlir
    #xfmr.argument<4>     // the value of argument 4
    #xfmr.argument<0, 1>  // the size of dimension 1 of argument 0
    ```
  }];
  let parameters = (ins "int64_t":$index, OptionalParameter<"::std::optional<int64_t>">:$dim);
  let assemblyFormat = "`<` $index (`,` $dim^)? `>`";
  let genVerifyDecl = 1;
}
def Xfmr_FormulaAttr : AttrDef<Xfmr_Dialect, "Formula"> {
  let mnemonic = "formula";
  let summary = "a count, such as a number of bytes, in terms of sizes that are known when a function is called";
  let description = [{
    The value is the largest result of `map`, whose symbols stand for `symbols`, in order. Each element of `symbols` is
    the name of a dim (a dynamic size or an `index` argument in the signature of the entry), `workers` (the number of
    workers), or an `#xfmr.argument`. Their values are not negative. The divisors in `map` are positive constants.

    ```mlir
    #xfmr.formula<[batch, length], affine_map<()[s0, s1] -> (s0 * 64, s1 * 64)>>   // 64 max(batch, length)
    #xfmr.formula<[#xfmr.argument<0, 0>], affine_map<()[s0] -> (s0 * 6144)>>       // 6144 times the rows of argument 0
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::Attribute">:$symbols, "::mlir::AffineMap":$map);
  let assemblyFormat = "`<` custom<FormulaSymbols>($symbols) `,` `affine_map` `<` $map `>` `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Formats of weights
//===----------------------------------------------------------------------===//

def Xfmr_WeightFormatAttr : AttrDef<Xfmr_Dialect, "WeightFormat"> {
  let mnemonic = "weight_format";
  let summary = "the format of a weight matrix: bf16, f16, or integers with a scale for each group of columns";
  let description = [{
    With `bf16` and `f16`, each weight is rounded to this type, to nearest, ties to even. The other names are `intB:G`,
    `intB:G:asym`, `intB:G:f32` and `intB:G:asym:f32`, where B and G are numbers. In these formats, the element
    `weight[n, k]` of a matrix `[N, K]` is approximated by `scale[n, g] * q[n, k] + minimum[n, g]`, where g is the group
    of column k. A group is G consecutive columns of one row, with G = 16, 32, 64 or 128; the last group of a row may
    have fewer. With G = 0, the whole row is one group. The integers q have B bits, 4 or 8. They are from `-2^(B-1)` to
    `2^(B-1) - 1`, or with `asym` from 0 to `2^B - 1`. `asym` adds a minimum for each group; without `asym`, minima are
    0. Scales and minima are stored as f16, or as f32 if the name ends with `f32`.

    ```mlir
    #xfmr.weight_format<"int4:32">
    #xfmr.weight_format<"int8:128:asym:f32">
    #xfmr.weight_format<"bf16">
    ```
  }];
  let parameters = (ins "::mlir::xfmr::WeightFormat":$value);
  let hasCustomAssemblyFormat = 1;
}

//===----------------------------------------------------------------------===//
// Weight sources: expressions, without free variables, over the tensors of a model folder
//===----------------------------------------------------------------------===//

class Xfmr_Source<string name, string mnem> : AttrDef<Xfmr_Dialect, name> { let mnemonic = mnem; }

def Xfmr_TensorSourceAttr : Xfmr_Source<"TensorSource", "tensor"> {
  let summary = "the tensor `name` of the model folder, with the shape of `type`, converted to its element type";
  let description = [{
    Packing fails if the folder has no tensor `name`, or if this tensor has another shape or elements of integers.
  }];
  let parameters = (ins StringRefParameter<"name in the weight files">:$name, "::mlir::RankedTensorType":$type);
  let assemblyFormat = "`<` $name `:` $type `>`";
}
def Xfmr_FillSourceAttr : Xfmr_Source<"FillSource", "fill"> {
  let summary = "a tensor of `type` whose elements are all `value`";
  let parameters = (ins "::mlir::FloatAttr":$value, "::mlir::RankedTensorType":$type);
  let assemblyFormat = "`<` $value `:` $type `>`";
}
def Xfmr_ComputedSourceAttr : Xfmr_Source<"ComputedSource", "computed"> {
  let summary = "a table that the packer computes by the formula `kind` with the parameters `params`";
  let description = [{
    Each element is computed in f64 and rounded once, to f32. Packing fails if `kind` is unknown, or if a parameter is
    missing or wrong. Below, p is the position of an element, which is the index of its row.

    - `sinusoidal` `[positions, N]` has the parameters `layout` and `base` (10000 if absent). Let
      `angle(p, i) = p / base^(2 i / N)`. The layout `"interleaved"` has `sin angle(p, i)` in column 2i and
      `cos angle(p, i)` in column 2i + 1; if N is odd, the last column is a sine. `"half"` has `sin angle(p, i)` in
      column i for i < `ceil(N / 2)`, and `cos angle(p, i)` in column `ceil(N / 2) + i`. `"constant"` has `-sin 1` in
      even and `cos 1` in odd columns.
    - `rotary` `[positions, R]` has the parameter `base` and optionally `scaling`. Let `f(i) = base^(-2 i / R)` for
      `i < R/2`. The table has `cos(p f(i))` in column i and `sin(p f(i))` in column R/2 + i. Instead of `base`, a list
      `frequencies` may give the R/2 numbers f(i). `scaling` replaces each f(i) by a number f'; below, f is f(i).
      `"linear"` has the parameter `factor`: `f' = f / factor`. `"llama3"` has `factor`, `low_freq_factor`,
      `high_freq_factor` and `original_length`. Let s be
      `(original_length f / (2 pi) - low_freq_factor) / (high_freq_factor - low_freq_factor)`, clamped to [0, 1]. Then
      `f' = (1 - s) f / factor + s f`. `"yarn"` has `factor`, `ramp_begin` and `ramp_end`. Let r be
      `(i - ramp_begin) / (ramp_end - ramp_begin)`, clamped to [0, 1]. Then `f' = (1 - r) f + r f / factor`.
      `"longrope"` has a list `factors` of R/2 numbers: `f' = f / factors[i]`. With the parameter `attention_factor`,
      all elements are multiplied by it.
    - `alibi_slopes` `[H]` has a slope for each head h. Let n be the largest power of 2 up to H. The slope is
      `2^(-8 (h + 1) / n)` for h < n, and `2^(-4 (2 (h - n) + 1) / n)` for the other heads. The parameter
      `rounding = "bf16"` rounds the slopes to bf16.
  }];
  let parameters = (ins StringRefParameter<"kind of table">:$kind, "::mlir::DictionaryAttr":$params, "::mlir::RankedTensorType":$type);
  let assemblyFormat = "`<` $kind `,` $params `:` $type `>`";
}
def Xfmr_ConcatSourceAttr : Xfmr_Source<"ConcatSource", "concat"> {
  let summary = "the sources joined along `axis`";
  let parameters = (ins "int64_t":$axis, "::mlir::ArrayAttr":$sources);
  let assemblyFormat = "`<` $axis `,` $sources `>`";
  let genVerifyDecl = 1;
}
def Xfmr_StackSourceAttr : Xfmr_Source<"StackSource", "stack"> {
  let summary = "the sources, all of one type, along a new first axis";
  let parameters = (ins "::mlir::ArrayAttr":$sources);
  let assemblyFormat = "`<` $sources `>`";
  let genVerifyDecl = 1;
}
def Xfmr_SliceSourceAttr : Xfmr_Source<"SliceSource", "slice"> {
  let summary = "the indices `begin` to `end - 1` of `source` along `axis`";
  let parameters = (ins "::mlir::Attribute":$source, "int64_t":$axis, "int64_t":$begin, "int64_t":$end);
  let assemblyFormat = "`<` $source `,` $axis `,` $begin `,` $end `>`";
  let genVerifyDecl = 1;
}
def Xfmr_SelectSourceAttr : Xfmr_Source<"SelectSource", "select"> {
  let summary = "the indices of `source` along `axis` that `indices` lists, in the order of the list";
  let parameters = (ins "::mlir::Attribute":$source, "int64_t":$axis, "::mlir::DenseI64ArrayAttr":$indices);
  let assemblyFormat = "`<` $source `,` $axis `,` $indices `>`";
  let genVerifyDecl = 1;
}
def Xfmr_ShardSourceAttr : Xfmr_Source<"ShardSource", "shard"> {
  let summary = "`size` indices of `source` along `axis`, from `begins[rank]` on, for the rank of the weights file";
  let parameters = (ins "::mlir::Attribute":$source, "int64_t":$axis, "int64_t":$size, "::mlir::DenseI64ArrayAttr":$begins);
  let assemblyFormat = "`<` $source `,` $axis `,` $size `,` $begins `>`";
  let genVerifyDecl = 1;
}
def Xfmr_TransposeSourceAttr : Xfmr_Source<"TransposeSource", "transpose"> {
  let summary = "dimension `i` of the result is dimension `permutation[i]` of the source";
  let parameters = (ins "::mlir::Attribute":$source, "::mlir::DenseI64ArrayAttr":$permutation);
  let assemblyFormat = "`<` $source `,` $permutation `>`";
  let genVerifyDecl = 1;
}
def Xfmr_ReshapeSourceAttr : Xfmr_Source<"ReshapeSource", "reshape"> {
  let summary = "the elements of `source`, in row-major order, as a tensor of the shape `shape`";
  let parameters = (ins "::mlir::Attribute":$source, "::mlir::DenseI64ArrayAttr":$shape);
  let assemblyFormat = "`<` $source `,` $shape `>`";
  let genVerifyDecl = 1;
}
def Xfmr_ScaleSourceAttr : Xfmr_Source<"ScaleSource", "scale"> {
  let summary = "each element times `factor`, computed in f64 and then rounded to f32";
  let parameters = (ins "::mlir::Attribute":$source, "::mlir::FloatAttr":$factor);
  let assemblyFormat = "`<` $source `,` $factor `>`";
  let genVerifyDecl = 1;
}
def Xfmr_ShiftSourceAttr : Xfmr_Source<"ShiftSource", "shift"> {
  let summary = "each element plus `value`, computed in f64 and then rounded to f32";
  let parameters = (ins "::mlir::Attribute":$source, "::mlir::FloatAttr":$value);
  let assemblyFormat = "`<` $source `,` $value `>`";
  let genVerifyDecl = 1;
}
def Xfmr_ProjectSourceAttr : Xfmr_Source<"ProjectSource", "project"> {
  let summary = "the product `rows matrix^T`, each sum in f32 and in ascending order of the columns; then `bias`, if "
                "present, is added to each row";
  let parameters = (ins "::mlir::Attribute":$rows, "::mlir::Attribute":$matrix, OptionalParameter<"::mlir::Attribute">:$bias);
  let assemblyFormat = "`<` $rows `,` $matrix (`,` $bias^)? `>`";
  let genVerifyDecl = 1;
}
def Xfmr_LayerNormSourceAttr : Xfmr_Source<"LayerNormSource", "layer_norm"> {
  let summary = "the layer norm of each row of the matrix `rows`, by the formula of `xfmr.layer_norm`, computed in f64 and "
                "rounded once, to f32";
  let parameters = (ins "::mlir::Attribute":$rows, "::mlir::Attribute":$weight, "::mlir::Attribute":$bias, "::mlir::FloatAttr":$epsilon);
  let assemblyFormat = "`<` $rows `,` $weight `,` $bias `,` $epsilon `>`";
  let genVerifyDecl = 1;
}
def Xfmr_UnitRowsSourceAttr : Xfmr_Source<"UnitRowsSource", "unit_rows"> {
  let summary = "each row of a matrix divided by the larger of its Euclidean length and 1e-12, computed in f64 and rounded once, to f32";
  let parameters = (ins "::mlir::Attribute":$source);
  let assemblyFormat = "`<` $source `>`";
  let genVerifyDecl = 1;
}
def Xfmr_PanelsSourceAttr : Xfmr_Source<"PanelsSource", "panels"> {
  let summary = "a `[N, K]` matrix as `[ceil(N / width)][K][width]`, the last panel padded with zeros; see `xfmr.weight_pack`";
  let parameters = (ins "::mlir::Attribute":$source, "int64_t":$width);
  let assemblyFormat = "`<` $source `,` $width `>`";
  let genVerifyDecl = 1;
}
def Xfmr_GroupedPanelsSourceAttr : Xfmr_Source<"GroupedPanelsSource", "grouped_panels"> {
  let summary = "a `[N, K]` matrix as `[ceil(N / width)][K' / group][width][group]`, with K' = K rounded up to "
                "`multiple`; zero beyond the matrix; see `xfmr.weight_pack`";
  let parameters = (ins "::mlir::Attribute":$source, "int64_t":$width, "int64_t":$group, "int64_t":$multiple);
  let assemblyFormat = "`<` $source `,` $width `,` $group `,` $multiple `>`";
  let genVerifyDecl = 1;
}
def Xfmr_ConvertSourceAttr : Xfmr_Source<"ConvertSource", "convert"> {
  let summary = "each element rounded to `type`, as `xfmr.weight_convert` does";
  let parameters = (ins "::mlir::Attribute":$source, "::mlir::FloatType":$type);
  let assemblyFormat = "`<` $source `,` $type `>`";
  let genVerifyDecl = 1;
}
def Xfmr_RowScalesSourceAttr : Xfmr_Source<"RowScalesSource", "row_scales"> {
  let summary = "a vector: for each row of a matrix, its largest magnitude / 127; a NaN counts as 0";
  let parameters = (ins "::mlir::Attribute":$source);
  let assemblyFormat = "`<` $source `>`";
  let genVerifyDecl = 1;
}
def Xfmr_RowQuantizedSourceAttr : Xfmr_Source<"RowQuantizedSource", "row_quantized"> {
  let summary = "a matrix as i8: each element divided by the scale of its row (`row_scales`) and rounded to nearest, "
                "ties to even; 0 where the scale is 0 or the quotient is NaN";
  let parameters = (ins "::mlir::Attribute":$source);
  let assemblyFormat = "`<` $source `>`";
  let genVerifyDecl = 1;
}
def Xfmr_QuantizedPanelsSourceAttr : Xfmr_Source<"QuantizedPanelsSource", "quantized_panels"> {
  let summary = "a `[N, K]` matrix quantized to `format`, as bytes `[ceil(N / width)][groups][bytes of a group]`";
  let description = [{
    The choice of scales and minima and the layout of a group are those of `xfmr.weight_quantize_panels`.
  }];
  let parameters = (ins "::mlir::Attribute":$source, "int64_t":$width, "::mlir::xfmr::WeightFormatAttr":$format);
  let assemblyFormat = "`<` $source `,` $width `,` $format `>`";
  let genVerifyDecl = 1;
}
def Xfmr_RowSumsSourceAttr : Xfmr_Source<"RowSumsSource", "row_sums"> {
  let summary = "a vector of i32: the sum of each row of an i8 matrix";
  let parameters = (ins "::mlir::Attribute":$source);
  let assemblyFormat = "`<` $source `>`";
  let genVerifyDecl = 1;
}

#endif // XFMR_ATTRS_TD
