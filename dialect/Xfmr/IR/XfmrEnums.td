//===- XfmrEnums.td - Enumerations of the xfmr dialect -----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Operations of the tile dialect use some of these enumerations, too.
//
//===----------------------------------------------------------------------===//
#ifndef XFMR_ENUMS_TD
#define XFMR_ENUMS_TD

include "dialect/Xfmr/IR/XfmrDialect.td"
include "mlir/IR/EnumAttr.td"

def Xfmr_Activation : I32EnumAttr<"Activation", "elementwise function between two projections", [
    I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Gelu", 1, "gelu">, I32EnumAttrCase<"GeluTanh", 2, "gelu_tanh">,
    I32EnumAttrCase<"Relu", 3, "relu">, I32EnumAttrCase<"Silu", 4, "silu">, I32EnumAttrCase<"Tanh", 5, "tanh">,
    I32EnumAttrCase<"QuickGelu", 6, "quick_gelu">, I32EnumAttrCase<"Sigmoid", 7, "sigmoid">, I32EnumAttrCase<"Relu6", 8, "relu6">,
    I32EnumAttrCase<"SquaredRelu", 9, "squared_relu">, I32EnumAttrCase<"LeakyRelu", 10, "leaky_relu">]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::mlir::xfmr";
}
def Xfmr_ActivationAttr : EnumAttr<Xfmr_Dialect, Xfmr_Activation, "activation"> {
  let description = "The description of `xfmr.activation` has the formula of each function.";
  let assemblyFormat = "`<` $value `>`";
}

def Xfmr_MaskedRows : I32EnumAttr<"MaskedRows", "attention probabilities of a query row without a visible key", [
    I32EnumAttrCase<"Uniform", 0, "uniform">, I32EnumAttrCase<"Zero", 1, "zero">, I32EnumAttrCase<"LeastMasked", 2, "least_masked">,
    I32EnumAttrCase<"LeastMaskedPast", 3, "least_masked_past">]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::mlir::xfmr";
}
def Xfmr_MaskedRowsAttr : EnumAttr<Xfmr_Dialect, Xfmr_MaskedRows, "masked_rows"> {
  let description = "The description of `xfmr.attention` has the probabilities for each value.";
  let assemblyFormat = "`<` $value `>`";
}

def Xfmr_Alignment : I32EnumAttr<"Alignment", "alignment of queries with keys: first query with first key, or last with last", [
    I32EnumAttrCase<"Start", 0, "start">, I32EnumAttrCase<"End", 1, "end">]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::mlir::xfmr";
}
def Xfmr_AlignmentAttr : EnumAttr<Xfmr_Dialect, Xfmr_Alignment, "alignment"> {
  let description = [{
    In a sequence with Q queries and S keys, `start` gives query i the position i among the keys, and `end` gives it the
    position i + S - Q.
  }];
  let assemblyFormat = "`<` $value `>`";
}

def Xfmr_ScoreStage : I32EnumAttr<"ScoreStage", "step of attention after which scores are returned", [
    I32EnumAttrCase<"Product", 0, "product">, I32EnumAttrCase<"Capped", 1, "capped">, I32EnumAttrCase<"Masked", 2, "masked">,
    I32EnumAttrCase<"Softmax", 3, "softmax">]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::mlir::xfmr";
}
def Xfmr_ScoreStageAttr : EnumAttr<Xfmr_Dialect, Xfmr_ScoreStage, "score_stage"> {
  let description = "The description of `xfmr.attention` has the formula of the scores after each step.";
  let assemblyFormat = "`<` $value `>`";
}

def Xfmr_PoolKind : I32EnumAttr<"PoolKind", "reduction of the tokens of a sequence to one row", [
    I32EnumAttrCase<"First", 0, "first">, I32EnumAttrCase<"Mean", 1, "mean">, I32EnumAttrCase<"Leading", 2, "leading">,
    I32EnumAttrCase<"Last", 3, "last">, I32EnumAttrCase<"Max", 4, "max">, I32EnumAttrCase<"MeanSqrtLength", 5, "mean_sqrt_length">,
    I32EnumAttrCase<"WeightedMean", 6, "weighted_mean">]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::mlir::xfmr";
}
def Xfmr_PoolKindAttr : EnumAttr<Xfmr_Dialect, Xfmr_PoolKind, "pool_kind"> {
  let description = "The description of `xfmr.pool` has the row that each kind returns.";
  let assemblyFormat = "`<` $value `>`";
}

def Xfmr_Precision : I32EnumAttr<"Precision", "operand type of a matrix product", [
    I32EnumAttrCase<"F32", 0, "f32">, I32EnumAttrCase<"BF16", 1, "bf16">, I32EnumAttrCase<"Int8", 2, "int8">,
    I32EnumAttrCase<"F16", 3, "f16">]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::mlir::xfmr";
}
def Xfmr_PrecisionAttr : EnumAttr<Xfmr_Dialect, Xfmr_Precision, "precision"> {
  let description = "The description of `xfmr.linear` has the arithmetic of each precision.";
  let assemblyFormat = "`<` $value `>`";
}

#endif // XFMR_ENUMS_TD
