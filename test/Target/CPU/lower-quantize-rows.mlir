// RUN: attune-opt %s --attune-lower-quantize-rows --split-input-file --verify-diagnostics | FileCheck %s

// 16 columns at a time; then the last one with the columns beyond it, which are zeros of whatever makes them.
// CHECK-LABEL: @bf16
// CHECK: scf.for %[[ROW:.*]] = %c0 to
// CHECK: scf.for %[[K:.*]] = %c0{{.*}} to %c16
// CHECK: vector.load %{{.*}}[%[[ROW]], %[[K]]] : memref<?x17xf32>, vector<16xf32>
// CHECK: arith.truncf %{{.*}} : vector<16xf32> to vector<16xbf16>
// CHECK: vector.store %{{.*}}[%[[ROW]], %[[K]]] : memref<?x18xbf16>, vector<16xbf16>
// CHECK: vector.constant_mask [1]
// CHECK: vector.maskedload
// CHECK: arith.truncf
// CHECK: vector.constant_mask [2]
// CHECK: vector.maskedstore
func.func @bf16(%x: memref<?x17xf32>, %c: memref<?x18xbf16>) {
  tile.quantize_rows ins(%x : memref<?x17xf32>) outs(%c : memref<?x18xbf16>)
  return
}

// -----

// CHECK-LABEL: @bf16_in_f32
// CHECK: arith.truncf
// CHECK: arith.extf %{{.*}} : vector<16xbf16> to vector<16xf32>
func.func @bf16_in_f32(%x: memref<?x16xf32>, %c: memref<?x16xf32>) {
  tile.quantize_rows ins(%x : memref<?x16xf32>) outs(%c : memref<?x16xf32>)
  return
}

// -----

// The largest magnitude, the scale, and the integers that adding 1.5 * 2^23 leaves in the low bits.
// CHECK-LABEL: @int8
// CHECK-SAME: (%{{.*}}: memref<?x64xf32>, %{{.*}}: memref<?x64xi8>, %[[SCALES:.*]]: memref<?xf32>)
// CHECK-COUNT-4: math.absf
// CHECK: %[[BITS:.*]] = vector.reduction <maxsi>
// CHECK: %[[LARGEST:.*]] = arith.bitcast %[[BITS]] : i32 to f32
// CHECK: %[[SCALE:.*]] = arith.divf %[[LARGEST]], %cst{{.*}} : f32
// CHECK: memref.store %[[SCALE]], %[[SCALES]]
// CHECK: arith.cmpf oeq, %[[LARGEST]]
// CHECK: arith.constant dense<0x4B400000> : vector<16xf32>
// CHECK: arith.constant dense<-128> : vector<16xi8>
// CHECK: arith.trunci %{{.*}} : vector<16xi32> to vector<16xi8>
// CHECK: arith.addi
func.func @int8(%x: memref<?x64xf32>, %c: memref<?x64xi8>, %s: memref<?xf32>) {
  tile.quantize_rows ins(%x : memref<?x64xf32>) outs(%c, %s : memref<?x64xi8>, memref<?xf32>)
  return
}

// -----

// CHECK-LABEL: @int16
// CHECK: arith.constant dense<0> : vector<16xi16>
// CHECK: arith.trunci %{{.*}} : vector<16xi32> to vector<16xi16>
func.func @int16(%x: memref<?x64xf32>, %c: memref<?x64xi16>, %s: memref<?xf32>) {
  tile.quantize_rows ins(%x : memref<?x64xf32>) outs(%c, %s : memref<?x64xi16>, memref<?xf32>)
  return
}

// -----

// For each group the largest magnitude as an integer, a scale, and the sum of the integers; the last group has 8 columns and 24 zeros.
// CHECK-LABEL: @groups
// CHECK-SAME: (%{{.*}}: memref<?x40xf32>, %[[Q:.*]]: memref<?x64xi8>, %[[SCALES:.*]]: memref<?x2xf32>, %[[SUMS:.*]]: memref<?x2xi32>)
// CHECK: scf.for %[[ROW:.*]] = %c0 to
// CHECK: scf.for %[[GROUP:.*]] = %c0{{.*}} to %c1
// CHECK-COUNT-2: arith.maxsi
// CHECK: vector.reduction <maxsi>
// CHECK: memref.store %{{.*}}, %[[SCALES]][%[[ROW]], %[[GROUP]]]
// CHECK-COUNT-2: vector.store %{{.*}}, %[[Q]][%[[ROW]],
// CHECK: vector.reduction <add>
// CHECK: memref.store %{{.*}}, %[[SUMS]][%[[ROW]], %[[GROUP]]]
// CHECK: vector.constant_mask [8]
// CHECK-COUNT-2: vector.store %{{.*}}, %[[Q]][%[[ROW]],
// CHECK: memref.store %{{.*}}, %[[SUMS]]
func.func @groups(%x: memref<?x40xf32>, %q: memref<?x64xi8>, %s: memref<?x2xf32>, %z: memref<?x2xi32>) {
  tile.quantize_rows ins(%x : memref<?x40xf32>) group 32 outs(%q, %s, %z : memref<?x64xi8>, memref<?x2xf32>, memref<?x2xi32>)
  return
}

// -----

func.func @strided(%x: memref<?x64xf32, strided<[128, 2]>>, %c: memref<?x64xbf16>) {
  // expected-error @below {{expects buffers whose last dimension is contiguous, but got 'memref<?x64xf32, strided<[128, 2]>>'}}
  tile.quantize_rows ins(%x : memref<?x64xf32, strided<[128, 2]>>) outs(%c : memref<?x64xbf16>)
  return
}

// -----

func.func @halves(%x: memref<?x64xf32>, %c: memref<?x64xf16>) {
  // expected-error @below {{f16 is not supported on CPUs}}
  tile.quantize_rows ins(%x : memref<?x64xf32>) outs(%c : memref<?x64xf16>)
  return
}

// -----

func.func @tensors(%x: tensor<?x64xf32>, %c: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  // expected-error @below {{expects buffers whose last dimension is contiguous, but got 'tensor<?x64xf32>'}}
  %0 = tile.quantize_rows ins(%x : tensor<?x64xf32>) outs(%c : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %0 : tensor<?x64xbf16>
}
