// RUN: rm -rf %t && split-file %s %t
// RUN: not attune-opt %t/model.mlir --xfmr-assign-weight-formats=formats=int3:32 2>&1 | FileCheck %s --check-prefix=INT3
// INT3: --weights-format: expected native, auto, bf16, f16, or int4 or int8 with groups {{.*}}, got 'int3:32'

// A pattern that matches nothing, only a part of a name, or only the scores of experts.
// RUN: not attune-opt %t/model.mlir --xfmr-assign-weight-formats=formats=int4:32,attn=int8:32 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: --weights-format: 'attn' matches no weight of a projection, expected parts of a name such as 'layers.0.q.weight', 'layers.0.k.weight'
// RUN: not attune-opt %t/model.mlir --xfmr-assign-weight-formats=formats=layers.00=int8:32 2>&1 | FileCheck %s --check-prefix=PART
// PART: --weights-format: 'layers.00' matches no weight of a projection
// RUN: not attune-opt %t/model.mlir --xfmr-assign-weight-formats=formats=router=int8:32 2>&1 | FileCheck %s --check-prefix=ROUTER
// ROUTER: --weights-format: 'router' matches no weight of a projection
// RUN: not attune-opt %t/model.mlir --xfmr-assign-weight-formats=formats=lm_head=int8:32 2>&1 | FileCheck %s --check-prefix=HEAD
// HEAD: --weights-format: 'lm_head' matches no weight: no projection of the model has a row for each id of 'input_ids'
// RUN: not attune-opt %t/model.mlir --xfmr-assign-weight-formats=formats=embeddings=bf16 2>&1 | FileCheck %s --check-prefix=TABLE
// TABLE: --weights-format: 'embeddings' matches no weight: the model has no table of which ids choose rows

// One matrix of two tensors.
// RUN: not attune-opt %t/model.mlir --xfmr-assign-weight-formats=formats=int4:32,q=int8:32 2>&1 | FileCheck %s --check-prefix=PARTS
// PARTS: --weights-format: the tensors 'layers.0.q.weight' and 'layers.0.k.weight' are one matrix, expected one format for both
// RUN: attune-opt %t/model.mlir --xfmr-assign-weight-formats=formats=int4:32,q=int8:32,k=int8:32 | FileCheck %s --check-prefix=BOTH
// BOTH: format = #xfmr.weight_format<"int8:32">

// A recursive function cannot be cloned.
// RUN: not attune-opt %t/recursive.mlir --xfmr-assign-weight-formats=formats=a=int8:32 2>&1 | FileCheck %s --check-prefix=RECURSIVE
// RECURSIVE: --weights-format: the weights of 'again' cannot have formats of their own, since it calls itself

//--- model.mlir
xfmr.weight @qk : tensor<16x8xf32> = #xfmr.concat<0, [#xfmr.tensor<"layers.0.q.weight" : tensor<8x8xf32>>, #xfmr.tensor<"layers.0.k.weight" : tensor<8x8xf32>>]>
xfmr.weight @router : tensor<4x8xf32> = #xfmr.tensor<"layers.0.router.weight" : tensor<4x8xf32>>
func.func @entry(%x: tensor<?x8xf32>) -> (tensor<?x16xf32>, tensor<?x2xi64>) {
  %w = xfmr.weight_ref @qk : tensor<16x8xf32>
  %y = xfmr.linear %x, %w : tensor<?x8xf32>, tensor<16x8xf32>
  %router = xfmr.weight_ref @router : tensor<4x8xf32>
  %z = xfmr.linear %x, %router : tensor<?x8xf32>, tensor<4x8xf32>
  %chosen, %scores = xfmr.choose_experts %z, 2 : tensor<?x4xf32>
  return %y, %chosen : tensor<?x16xf32>, tensor<?x2xi64>
}

//--- recursive.mlir
xfmr.weight @a : tensor<8x8xf32> = #xfmr.tensor<"a" : tensor<8x8xf32>>
func.func private @again(%x: tensor<?x8xf32>, %w: tensor<8x8xf32> {xfmr.weight}) -> tensor<?x8xf32> {
  %0 = xfmr.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  %1 = call @again(%0, %w) : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}
func.func @entry(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %w = xfmr.weight_ref @a : tensor<8x8xf32>
  %y = call @again(%x, %w) : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
