// RUN: attune-opt %s --xfmr-assign-weight-formats="precision=int8 formats=int4:32,lm_head=bf16,embeddings=f16,layers.[1-9].up=int8:32,layers.0.down=native" \
// RUN:   --remark-policy=all --remarks-filter=".*" -o %t.mlir 2> %t.remarks
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: FileCheck %s --input-file=%t.remarks --check-prefix=REMARK
// RUN: attune-opt %s --xfmr-assign-weight-formats="precision=f32 formats=f16" | FileCheck %s --check-prefix=ALL
// RUN: attune-opt %s --xfmr-assign-weight-formats="precision=f16 formats=int4:32" | FileCheck %s --check-prefix=F16
// F16: xfmr.linear {{.*}} {format = #xfmr.weight_format<"int4:32">, precision = #xfmr.precision<f16>}
// RUN: attune-opt %s --xfmr-assign-weight-formats="precision=int8 formats=int4:32,layers=int8:32" | FileCheck %s --check-prefix=LAYERS
// RUN: attune-opt %s --xfmr-assign-weight-formats="formats=head=int8:16,lm_head=int8:32,*.up.weight=int4:16,layers.1=int4:16" | FileCheck %s --check-prefix=LAST
// A projection that scores experts gets no remark if no format is meant for it.
// RUN: attune-opt %s --xfmr-assign-weight-formats="precision=int8 formats=*.up.weight=int4:32" --remark-policy=all --remarks-filter=".*" 2>&1 >/dev/null \
// RUN:   | FileCheck %s --check-prefix=MEANT --implicit-check-not=Missed
// MEANT: Remark="its operands are int8, its weights int4:32"

xfmr.weight @table : tensor<203x8xf32> = #xfmr.tensor<"model.words.weight" : tensor<203x8xf32>>
xfmr.weight @waves : tensor<64x8xf32> = #xfmr.computed<"sinusoidal", {layout = "half"} : tensor<64x8xf32>>
xfmr.weight @up0 : tensor<8x8xf32> = #xfmr.transpose<#xfmr.tensor<"layers.0.up.weight" : tensor<8x8xf32>>, [1, 0]>
xfmr.weight @down0 : tensor<8x8xf32> = #xfmr.tensor<"layers.0.down.weight" : tensor<8x8xf32>>
xfmr.weight @up1 : tensor<8x8xf32> = #xfmr.tensor<"layers.1.up.weight" : tensor<8x8xf32>>
xfmr.weight @down1 : tensor<8x8xf32> = #xfmr.tensor<"layers.1.down.weight" : tensor<8x8xf32>>
xfmr.weight @up2 : tensor<8x8xf32> = #xfmr.tensor<"layers.2.up.weight" : tensor<8x8xf32>>
xfmr.weight @down2 : tensor<8x8xf32> = #xfmr.tensor<"layers.2.down.weight" : tensor<8x8xf32>>
xfmr.weight @head : tensor<203x8xf32> = #xfmr.tensor<"head.weight" : tensor<203x8xf32>>
xfmr.weight @router : tensor<4x8xf32> = #xfmr.tensor<"layers.1.router.weight" : tensor<4x8xf32>>

// The first layer has formats of its own; the second and the third share a clone.
// CHECK-LABEL: func.func private @layer(
// CHECK: xfmr.linear %{{.*}}, %arg1 {activation = #xfmr.activation<relu>, format = #xfmr.weight_format<"int4:32">, precision = #xfmr.precision<int8>}
// CHECK: xfmr.linear %{{.*}}, %arg2 :
// CHECK-LABEL: func.func private @layer_0(
// CHECK: xfmr.linear %{{.*}}, %arg1 {activation = #xfmr.activation<relu>, format = #xfmr.weight_format<"int8:32">, precision = #xfmr.precision<int8>}
// CHECK: xfmr.linear %{{.*}}, %arg2 {format = #xfmr.weight_format<"int4:32">, precision = #xfmr.precision<int8>}
// CHECK-NOT: func.func private @layer_1
//
// Layers of one format keep one function. A layer counts as matched by a part of the name of a weight.
// LAYERS-LABEL: func.func private @layer(
// LAYERS: format = #xfmr.weight_format<"int8:32">, precision = #xfmr.precision<int8>}
// LAYERS: format = #xfmr.weight_format<"int8:32">, precision = #xfmr.precision<int8>}
// LAYERS-NOT: func.func private @layer_
//
// Rules of one format make one variant; without a default, the other projections have no format.
// LAST-LABEL: func.func private @layer(
// LAST: xfmr.linear %{{.*}}, %arg1 {activation = #xfmr.activation<relu>, format = #xfmr.weight_format<"int4:16">}
// LAST: xfmr.linear %{{.*}}, %arg2 :
// LAST-LABEL: func.func private @layer_0(
// LAST: xfmr.linear %{{.*}}, %arg1 {activation = #xfmr.activation<relu>, format = #xfmr.weight_format<"int4:16">}
// LAST: xfmr.linear %{{.*}}, %arg2 {format = #xfmr.weight_format<"int4:16">}
//
// ALL-LABEL: func.func private @layer(
// ALL: xfmr.linear %{{.*}}, %arg1 {activation = #xfmr.activation<relu>, format = #xfmr.weight_format<"f16">} :
func.func private @layer(%x: tensor<?x8xf32>, %up: tensor<8x8xf32> {xfmr.weight}, %down: tensor<8x8xf32> {xfmr.weight}) -> tensor<?x8xf32> {
  %0 = xfmr.linear %x, %up {activation = #xfmr.activation<relu>} : tensor<?x8xf32>, tensor<8x8xf32>
  %1 = xfmr.linear %0, %down : tensor<?x8xf32>, tensor<8x8xf32>
  return %1 : tensor<?x8xf32>
}

// The head is the projection of an entry with a row for each id; its format is that of products of f32. A computed table
// stays f32, and so does a projection that scores experts.
// CHECK-LABEL: func.func @forward
// CHECK: xfmr.embedding %{{.*}}, %{{.*}} {format = #xfmr.weight_format<"f16">} : tensor<203x8xf32>
// CHECK: xfmr.embedding %{{.*}}, %{{.*}} : tensor<64x8xf32>
// CHECK: call @layer(
// CHECK: call @layer_0(
// CHECK: call @layer_0(
// CHECK: xfmr.linear %{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<4x8xf32>
// CHECK: xfmr.linear %{{.*}}, %{{.*}} {format = #xfmr.weight_format<"bf16">} : tensor<?x8xf32>, tensor<203x8xf32>
// ALL-LABEL: func.func @forward
// ALL: xfmr.embedding %{{.*}}, %{{.*}} : tensor<203x8xf32>
// ALL: xfmr.linear %{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<4x8xf32>
// ALL: xfmr.linear %{{.*}}, %{{.*}} {format = #xfmr.weight_format<"f16">} : tensor<?x8xf32>, tensor<203x8xf32>
// LAYERS-LABEL: func.func @forward
// LAYERS: xfmr.linear %{{.*}}, %{{.*}} {format = #xfmr.weight_format<"int4:32">, precision = #xfmr.precision<int8>} : tensor<?x8xf32>, tensor<203x8xf32>
// The last rule that matches decides.
// LAST-LABEL: func.func @forward
// LAST: xfmr.linear %{{.*}}, %{{.*}} {format = #xfmr.weight_format<"int8:32">} : tensor<?x8xf32>, tensor<203x8xf32>
// REMARK-DAG: remark: [Passed] AssignWeightFormats | Category:xfmr-assign-weight-formats | Function=forward | Remark="its table is f16"
// REMARK-DAG: remark: [Passed] AssignWeightFormats | Category:xfmr-assign-weight-formats | Function=forward | Remark="its operands are f32, its weights bf16"
// REMARK-DAG: remark: [Passed] AssignWeightFormats | Category:xfmr-assign-weight-formats | Function=layer_0 | Remark="its operands are int8, its weights int8:32"
// REMARK-DAG: remark: [Missed] AssignWeightFormats | Category:xfmr-assign-weight-formats | Function=forward | Reason="it scores experts"
func.func @forward(%ids: tensor<?x?xi64> {xfmr.input = #xfmr.input<"input_ids", [batch, length], max_value = 203>})
    -> (tensor<?x203xf32> {xfmr.output = #xfmr.output<"logits", [tokens, 203]>}, tensor<?x2xi64>)
    attributes {xfmr.entry = #xfmr.entry<"forward">} {
  %flat = tensor.collapse_shape %ids [[0, 1]] : tensor<?x?xi64> into tensor<?xi64>
  %table = xfmr.weight_ref @table : tensor<203x8xf32>
  %0 = xfmr.embedding %flat, %table : tensor<203x8xf32>
  %waves = xfmr.weight_ref @waves : tensor<64x8xf32>
  %1 = xfmr.embedding %flat, %waves : tensor<64x8xf32>
  %2 = arith.addf %0, %1 : tensor<?x8xf32>
  %up0 = xfmr.weight_ref @up0 : tensor<8x8xf32>
  %down0 = xfmr.weight_ref @down0 : tensor<8x8xf32>
  %3 = call @layer(%2, %up0, %down0) : (tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %up1 = xfmr.weight_ref @up1 : tensor<8x8xf32>
  %down1 = xfmr.weight_ref @down1 : tensor<8x8xf32>
  %4 = call @layer(%3, %up1, %down1) : (tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %up2 = xfmr.weight_ref @up2 : tensor<8x8xf32>
  %down2 = xfmr.weight_ref @down2 : tensor<8x8xf32>
  %5 = call @layer(%4, %up2, %down2) : (tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %router = xfmr.weight_ref @router : tensor<4x8xf32>
  %6 = xfmr.linear %5, %router : tensor<?x8xf32>, tensor<4x8xf32>
  %chosen, %scores = xfmr.choose_experts %6, 2 : tensor<?x4xf32>
  %head = xfmr.weight_ref @head : tensor<203x8xf32>
  %7 = xfmr.linear %5, %head : tensor<?x8xf32>, tensor<203x8xf32>
  return %7, %chosen : tensor<?x203xf32>, tensor<?x2xi64>
}
