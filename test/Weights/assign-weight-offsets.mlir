// RUN: attune-opt %s --attune-assign-weight-offsets --split-input-file | FileCheck %s

// Two layers share a function; their rows have the same layout and begin at pages. Weights that the entry reads itself
// come after them.

// CHECK: module attributes {xfmr.weights_bytes = 4544 : i64}
// CHECK: xfmr.weight @table : {{.*}} at 4416
// CHECK: xfmr.weight @w0 : {{.*}} at 0
// CHECK: xfmr.weight @b0 : {{.*}} at 256
// CHECK: xfmr.weight @w1 : {{.*}} at 4096
// CHECK: xfmr.weight @b1 : {{.*}} at 4352
// CHECK-NOT: @unused
module {
  xfmr.weight @table : tensor<10x2xf32> = #xfmr.tensor<"table" : tensor<10x2xf32>>
  xfmr.weight @w0 : tensor<8x8xf32> = #xfmr.tensor<"w0" : tensor<8x8xf32>>
  xfmr.weight @b0 : tensor<8xf32> = #xfmr.tensor<"b0" : tensor<8xf32>>
  xfmr.weight @w1 : tensor<8x8xf32> = #xfmr.tensor<"w1" : tensor<8x8xf32>>
  xfmr.weight @b1 : tensor<8xf32> = #xfmr.tensor<"b1" : tensor<8xf32>>
  xfmr.weight @unused : tensor<8xf32> = #xfmr.tensor<"b1" : tensor<8xf32>>

  // CHECK-LABEL: func.func private @layer(
  // CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>, %[[ROW:.*]]: memref<?xi8> {rt.role = #rt.role<weights>}) -> tensor<?x8xf32>
  // CHECK: %[[V:.*]] = memref.view %[[ROW]][%{{.*}}][] : memref<?xi8> to memref<8x8xf32>
  // CHECK: %[[W:.*]] = bufferization.to_tensor %[[V]] restrict
  // CHECK: %[[C256:.*]] = arith.constant 256 : index
  // CHECK: memref.view %[[ROW]][%[[C256]]][] : memref<?xi8> to memref<8xf32>
  // CHECK: xfmr.linear %[[X]], %[[W]]
  func.func private @layer(%x: tensor<?x8xf32>, %w: tensor<8x8xf32> {xfmr.weight}, %b: tensor<8xf32> {xfmr.weight}) -> tensor<?x8xf32> {
    %y = xfmr.linear %x, %w bias(%b) : tensor<?x8xf32>, tensor<8x8xf32>, bias tensor<8xf32>
    return %y : tensor<?x8xf32>
  }

  // CHECK-LABEL: func.func @forward(
  // CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>, %[[WEIGHTS:.*]]: memref<?xi8> {rt.role = #rt.role<weights>})
  // CHECK: memref.view %[[WEIGHTS]][%{{.*}}][] : memref<?xi8> to memref<10x2xf32>
  // CHECK: %[[AT:.*]] = arith.constant 0 : index
  // CHECK: %[[SIZE:.*]] = arith.constant 320 : index
  // CHECK: %[[ROW0:.*]] = memref.view %[[WEIGHTS]][%[[AT]]][%[[SIZE]]] : memref<?xi8> to memref<?xi8>
  // CHECK: %[[Y:.*]] = call @layer(%[[X]], %[[ROW0]])
  // CHECK: arith.constant 4096 : index
  // CHECK: call @layer(%[[Y]], %{{.*}})
  func.func @forward(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<10x2xf32>) attributes {xfmr.entry = #xfmr.entry<"forward">} {
    %table = xfmr.weight_ref @table : tensor<10x2xf32>
    %w0 = xfmr.weight_ref @w0 : tensor<8x8xf32>
    %b0 = xfmr.weight_ref @b0 : tensor<8xf32>
    %y = call @layer(%x, %w0, %b0) : (tensor<?x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
    %w1 = xfmr.weight_ref @w1 : tensor<8x8xf32>
    %b1 = xfmr.weight_ref @b1 : tensor<8xf32>
    %z = call @layer(%y, %w1, %b1) : (tensor<?x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
    return %z, %table : tensor<?x8xf32>, tensor<10x2xf32>
  }
}

// -----

// A weight in a row and elsewhere is stored once per use; equal rows are stored once, and so is a row that is part of another one.

// CHECK: module attributes {xfmr.weights_bytes = 192 : i64}
// CHECK: xfmr.weight @a : {{.*}} at 0
// CHECK-NEXT: xfmr.weight @a_{{.*}} at 128
// CHECK-NEXT: xfmr.weight @b : {{.*}} at 64
module {
  xfmr.weight @a : tensor<8xf32> = #xfmr.tensor<"a" : tensor<8xf32>>
  xfmr.weight @b : tensor<8xf32> = #xfmr.tensor<"b" : tensor<8xf32>>
  func.func private @one(%x: tensor<?x8xf32>, %a: tensor<8xf32> {xfmr.weight}) -> tensor<8xf32> {
    return %a : tensor<8xf32>
  }
  func.func private @two(%a: tensor<8xf32> {xfmr.weight}, %b: tensor<8xf32> {xfmr.weight}) -> tensor<8xf32> {
    %s = arith.addf %a, %b : tensor<8xf32>
    return %s : tensor<8xf32>
  }
  func.func @forward(%x: tensor<?x8xf32>) -> tensor<8xf32> attributes {xfmr.entry = #xfmr.entry<"forward">} {
    %a = xfmr.weight_ref @a : tensor<8xf32>
    %b = xfmr.weight_ref @b : tensor<8xf32>
    %0 = call @two(%a, %b) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %1 = call @two(%a, %b) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %2 = call @one(%x, %a) : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %3 = arith.addf %2, %a : tensor<8xf32>
    return %3 : tensor<8xf32>
  }
}

// -----

// The section of a layer function contains those of the functions that it calls; an unused argument takes no bytes.

// CHECK: module attributes {xfmr.weights_bytes = 128 : i64}
// CHECK-NOT: xfmr.weight @dead
module {
  xfmr.weight @a : tensor<8xf32> = #xfmr.tensor<"a" : tensor<8xf32>>
  xfmr.weight @b : tensor<8xf32> = #xfmr.tensor<"b" : tensor<8xf32>>
  xfmr.weight @dead : tensor<8xf32> = #xfmr.tensor<"b" : tensor<8xf32>>
  // CHECK-LABEL: func.func private @inner(
  // CHECK-SAME: %{{.*}}: memref<?xi8> {rt.role = #rt.role<weights>})
  func.func private @inner(%b: tensor<8xf32> {xfmr.weight}, %dead: tensor<8xf32> {xfmr.weight}) -> tensor<8xf32> {
    return %b : tensor<8xf32>
  }
  // CHECK-LABEL: func.func private @outer(
  // CHECK-SAME: %[[ROW:.*]]: memref<?xi8> {rt.role = #rt.role<weights>})
  // CHECK: %[[INNER:.*]] = memref.view %[[ROW]][%{{.*}}][%{{.*}}] : memref<?xi8> to memref<?xi8>
  // CHECK: call @inner(%[[INNER]])
  func.func private @outer(%b: tensor<8xf32> {xfmr.weight}, %a: tensor<8xf32> {xfmr.weight}, %dead: tensor<8xf32> {xfmr.weight}) -> tensor<8xf32> {
    %0 = call @inner(%b, %dead) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %1 = arith.addf %0, %a : tensor<8xf32>
    return %1 : tensor<8xf32>
  }
  func.func @forward() -> tensor<8xf32> attributes {xfmr.entry = #xfmr.entry<"forward">} {
    %a = xfmr.weight_ref @a : tensor<8xf32>
    %b = xfmr.weight_ref @b : tensor<8xf32>
    %dead = xfmr.weight_ref @dead : tensor<8xf32>
    %0 = call @outer(%b, %a, %dead) : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

// A function that is also called with a value that is no weight keeps its tensor arguments.

module {
  xfmr.weight @a : tensor<8xf32> = #xfmr.tensor<"a" : tensor<8xf32>>
  // CHECK-LABEL: func.func private @mixed(
  // CHECK-SAME: %{{.*}}: tensor<8xf32> {xfmr.weight})
  func.func private @mixed(%a: tensor<8xf32> {xfmr.weight}) -> tensor<8xf32> {
    return %a : tensor<8xf32>
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[A:.*]] = bufferization.to_tensor
  // CHECK: call @mixed(%[[A]])
  func.func @forward(%x: tensor<8xf32>) -> tensor<8xf32> attributes {xfmr.entry = #xfmr.entry<"forward">} {
    %a = xfmr.weight_ref @a : tensor<8xf32>
    %0 = call @mixed(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = call @mixed(%x) : (tensor<8xf32>) -> tensor<8xf32>
    return %1 : tensor<8xf32>
  }
}

// -----

// A function that reads a part of the weights of another function for the same layers reads them in the other's rows:
// nothing is stored twice.

// CHECK: module attributes {xfmr.weights_bytes = 4288 : i64}
// CHECK: xfmr.weight @a0 : {{.*}} at 0
// CHECK-NEXT: xfmr.weight @b0 : {{.*}} at 64
// CHECK-NEXT: xfmr.weight @c0 : {{.*}} at 128
// CHECK-NEXT: xfmr.weight @a1 : {{.*}} at 4096
// CHECK-NEXT: xfmr.weight @b1 : {{.*}} at 4160
// CHECK-NEXT: xfmr.weight @c1 : {{.*}} at 4224
module {
  xfmr.weight @a0 : tensor<8xf32> = #xfmr.tensor<"a0" : tensor<8xf32>>
  xfmr.weight @b0 : tensor<8xf32> = #xfmr.tensor<"b0" : tensor<8xf32>>
  xfmr.weight @c0 : tensor<8xf32> = #xfmr.tensor<"c0" : tensor<8xf32>>
  xfmr.weight @a1 : tensor<8xf32> = #xfmr.tensor<"a1" : tensor<8xf32>>
  xfmr.weight @b1 : tensor<8xf32> = #xfmr.tensor<"b1" : tensor<8xf32>>
  xfmr.weight @c1 : tensor<8xf32> = #xfmr.tensor<"c1" : tensor<8xf32>>
  func.func private @whole(%a: tensor<8xf32> {xfmr.weight}, %b: tensor<8xf32> {xfmr.weight}, %c: tensor<8xf32> {xfmr.weight}) -> tensor<8xf32> {
    %s = arith.addf %a, %b : tensor<8xf32>
    %t = arith.addf %s, %c : tensor<8xf32>
    return %t : tensor<8xf32>
  }
  // CHECK-LABEL: func.func private @part
  // CHECK: %[[C:.*]] = arith.constant 128 : index
  // CHECK: memref.view %{{.*}}[%[[C]]][]
  // CHECK: %[[A:.*]] = arith.constant 0 : index
  // CHECK: memref.view %{{.*}}[%[[A]]][]
  func.func private @part(%c: tensor<8xf32> {xfmr.weight}, %a: tensor<8xf32> {xfmr.weight}) -> tensor<8xf32> {
    %s = arith.addf %a, %c : tensor<8xf32>
    return %s : tensor<8xf32>
  }
  func.func @forward() -> (tensor<8xf32>, tensor<8xf32>) attributes {xfmr.entry = #xfmr.entry<"forward">} {
    %a0 = xfmr.weight_ref @a0 : tensor<8xf32>
    %b0 = xfmr.weight_ref @b0 : tensor<8xf32>
    %c0 = xfmr.weight_ref @c0 : tensor<8xf32>
    %0 = call @whole(%a0, %b0, %c0) : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %a1 = xfmr.weight_ref @a1 : tensor<8xf32>
    %b1 = xfmr.weight_ref @b1 : tensor<8xf32>
    %c1 = xfmr.weight_ref @c1 : tensor<8xf32>
    %1 = call @whole(%a1, %b1, %c1) : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    return %0, %1 : tensor<8xf32>, tensor<8xf32>
  }
  // CHECK-LABEL: func.func @decode
  // CHECK: arith.constant 4096 : index
  // CHECK: call @part
  func.func @decode() -> tensor<8xf32> attributes {xfmr.entry = #xfmr.entry<"decode">} {
    %a1 = xfmr.weight_ref @a1 : tensor<8xf32>
    %c1 = xfmr.weight_ref @c1 : tensor<8xf32>
    %0 = call @part(%c1, %a1) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
