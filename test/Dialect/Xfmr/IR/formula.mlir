// RUN: attune-opt %s | attune-opt | FileCheck %s

// Names that are not valid keywords are printed as strings.
// CHECK: @forward() attributes {{.*}}xfmr.flops = #xfmr.formula<[batch, "the length"], affine_map<()[s0, s1] -> ({{.*}}s0 * s1{{.*}})>>
func.func @forward() attributes {xfmr.entry = #xfmr.entry<"forward">, xfmr.flops = #xfmr.formula<[batch, "the length"], affine_map<()[s0, s1] -> (s0 * s1 * 64)>>} {
  return
}
// CHECK: @constant() attributes {{.*}}xfmr.flops = #xfmr.formula<[], affine_map<() -> (8)>>
func.func @constant() attributes {xfmr.entry = #xfmr.entry<"constant">, xfmr.flops = #xfmr.formula<[], affine_map<() -> (8)>>} {
  return
}
// The maximum of two formulas.
// CHECK: @maximum() attributes {{.*}}xfmr.flops = #xfmr.formula<[batch], affine_map<()[s0] -> (s0 floordiv 4, s0 - 8)>>
func.func @maximum() attributes {xfmr.entry = #xfmr.entry<"maximum">, xfmr.flops = #xfmr.formula<[batch], affine_map<()[s0] -> (s0 floordiv 4, s0 - 8)>>} {
  return
}
// CHECK: test.formula = #xfmr.formula<[#xfmr.argument<0>, #xfmr.argument<2, 1>], affine_map<()[s0, s1] -> (s0 + s1)>>
func.func @arguments() attributes {test.formula = #xfmr.formula<[#xfmr.argument<0>, #xfmr.argument<2, 1>], affine_map<()[s0, s1] -> (s0 + s1)>>} {
  return
}
