// RUN: attune-opt %s --attune-vectorize-tiles --canonicalize --cse | FileCheck %s

#full = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#column = affine_map<(m, n) -> (n)>

// Whole chunks of 16 columns, then the rest, of static size, with a mask.
// CHECK-LABEL: @static_tail
// CHECK-SAME: (%[[X:[a-z0-9]+]]: memref<?x36xf32>, %[[B:[a-z0-9]+]]: memref<36xf32>, %[[OUT:[a-z0-9]+]]: memref<?x36xf32>)
// CHECK: scf.for %[[I:.*]] = %c0 to %{{.*}} step %c1
// CHECK: scf.for %[[J:.*]] = %c0 to %c32 step %c16
// CHECK: %[[L:.*]] = vector.load %[[X]][%[[I]], %[[J]]] : memref<?x36xf32>, vector<16xf32>
// CHECK: %[[R:.*]] = vector.load %[[B]][%[[J]]]
// CHECK: %[[S:.*]] = arith.addf %[[L]], %[[R]] : vector<16xf32>
// CHECK: vector.store %[[S]], %[[OUT]][%[[I]], %[[J]]]
// CHECK: %[[MASK:.*]] = vector.constant_mask [4]
// CHECK: vector.maskedload %[[X]][%[[I]], %c32], %[[MASK]]
// CHECK: vector.maskedstore %[[OUT]][%[[I]], %c32], %[[MASK]]
// CHECK-NOT: linalg
// CHECK: return
func.func @static_tail(%x: memref<?x36xf32>, %b: memref<36xf32>, %out: memref<?x36xf32>) {
  linalg.generic {indexing_maps = [#full, #column, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : memref<?x36xf32>, memref<36xf32>) outs(%out : memref<?x36xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %s = arith.addf %l, %r : f32
    linalg.yield %s : f32
  }
  return
}

// CHECK-LABEL: @no_tail
// CHECK: vector.store
// CHECK-NOT: mask
// CHECK: return
func.func @no_tail(%x: memref<?x32xf32>) {
  linalg.generic {indexing_maps = [#full], iterator_types = ["parallel", "parallel"]} outs(%x : memref<?x32xf32>) {
  ^bb0(%o: f32):
    %s = math.tanh %o : f32
    linalg.yield %s : f32
  }
  return
}

// CHECK-LABEL: @dynamic_tail
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: memref<?xf32>)
// CHECK: %[[N:.*]] = memref.dim %[[OUT]]
// CHECK: %[[CHUNKS:.*]] = arith.divui %[[N]], %c16
// CHECK: %[[WHOLE:.*]] = arith.muli %[[CHUNKS]], %c16
// CHECK: scf.for %{{.*}} = %c0 to %[[WHOLE]] step %c16
// CHECK: %[[REST:.*]] = arith.subi %[[N]], %[[WHOLE]]
// CHECK: %[[ANY:.*]] = arith.cmpi ne, %[[REST]], %c0
// CHECK: scf.if %[[ANY]]
// CHECK: %[[MASK:.*]] = vector.create_mask %[[REST]]
// CHECK: vector.maskedstore %[[OUT]][%[[WHOLE]]], %[[MASK]]
func.func @dynamic_tail(%out: memref<?xf32>) {
  %one = arith.constant 1.0 : f32
  linalg.fill ins(%one : f32) outs(%out : memref<?xf32>)
  return
}

// 16 partial sums; lanes beyond the row keep theirs. Then adds lane i and i + 8, 4, 2, 1, and the former value of the
// output.
// CHECK-LABEL: @sum
// CHECK-SAME: (%[[X:[a-z0-9]+]]: memref<?x20xf32>, %[[OUT:[a-z0-9]+]]: memref<?xf32>)
// CHECK: scf.for %[[I:.*]] =
// CHECK-DAG: %[[CHUNK:.*]] = vector.load %[[X]][%[[I]], %c0]
// CHECK-DAG: %[[TAIL:.*]] = vector.maskedload %[[X]][%[[I]], %c16]
// CHECK-DAG: %[[PART:.*]] = arith.addf %[[CHUNK]], %{{.*}} : vector<16xf32>
// CHECK-DAG: %[[MORE:.*]] = arith.addf %[[PART]], %[[TAIL]] : vector<16xf32>
// CHECK: %[[ALL:.*]] = arith.select %{{.*}}, %[[MORE]], %[[PART]] : vector<16xi1>
// CHECK: vector.shuffle %[[ALL]], %[[ALL]] [0, 1, 2, 3, 4, 5, 6, 7]
// CHECK: vector.shuffle %[[ALL]], %[[ALL]] [8, 9, 10, 11, 12, 13, 14, 15]
// CHECK: arith.addf %{{.*}} : vector<8xf32>
// CHECK: arith.addf %{{.*}} : vector<4xf32>
// CHECK: arith.addf %{{.*}} : vector<2xf32>
// CHECK: arith.addf %{{.*}} : vector<1xf32>
// CHECK: %[[TOTAL:.*]] = vector.extract
// CHECK: %[[OLD:.*]] = memref.load %[[OUT]][%[[I]]]
// CHECK: %[[NEW:.*]] = arith.addf %[[OLD]], %[[TOTAL]]
// CHECK: memref.store %[[NEW]], %[[OUT]][%[[I]]]
func.func @sum(%x: memref<?x20xf32>, %out: memref<?xf32>) {
  linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<?x20xf32>) outs(%out : memref<?xf32>) {
  ^bb0(%l: f32, %acc: f32):
    %s = arith.addf %acc, %l : f32
    linalg.yield %s : f32
  }
  return
}

// Sum of squared differences: the mean is computed once per row, as a scalar.
// CHECK-LABEL: @fused_multiply_add
// CHECK: scf.for %[[I:.*]] =
// CHECK: %[[TOTAL:.*]] = memref.load %{{.*}}[%[[I]]]
// CHECK: %[[MEAN:.*]] = arith.mulf %[[TOTAL]], %{{.*}} : f32
// CHECK: scf.for
// CHECK: %[[MEANS:.*]] = vector.broadcast %[[MEAN]]
// CHECK: %[[D:.*]] = arith.subf %{{.*}}, %[[MEANS]] : vector<16xf32>
// CHECK: math.fma %[[D]], %[[D]], %{{.*}} : vector<16xf32>
func.func @fused_multiply_add(%x: memref<?x32xf32>, %total: memref<?xf32>, %out: memref<?xf32>) {
  %inverse = arith.constant 0.03125 : f32
  linalg.generic {indexing_maps = [#full, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %total : memref<?x32xf32>, memref<?xf32>) outs(%out : memref<?xf32>) {
  ^bb0(%l: f32, %t: f32, %acc: f32):
    %mean = arith.mulf %t, %inverse : f32
    %d = arith.subf %l, %mean : f32
    %s = math.fma %d, %d, %acc : f32
    linalg.yield %s : f32
  }
  return
}

// A NaN in any lane is the result.
// CHECK-LABEL: @maximum
// CHECK: arith.constant dense<0xFF800000> : vector<16xf32>
// CHECK: arith.maximumf %{{.*}} : vector<16xf32>
// CHECK: arith.maximumf %{{.*}} : vector<8xf32>
// CHECK-NOT: arith.cmpf
// CHECK: arith.maximumf %{{.*}} : f32
func.func @maximum(%x: memref<?x32xf32>, %out: memref<?xf32>) {
  linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<?x32xf32>) outs(%out : memref<?xf32>) {
  ^bb0(%l: f32, %acc: f32):
    %s = arith.maximumf %acc, %l : f32
    linalg.yield %s : f32
  }
  return
}

// An embedding: the id is read once per row, the table's row like any other.
// CHECK-LABEL: @gather_rows
// CHECK-SAME: (%[[IDS:[a-z0-9]+]]: memref<?xi64>, %[[TABLE:[a-z0-9]+]]: memref<203x32xf32>,
// CHECK: scf.for %[[I:.*]] =
// CHECK: %[[ID:.*]] = memref.load %[[IDS]][%[[I]]]
// CHECK: %[[ROW:.*]] = arith.index_cast %[[ID]]
// CHECK: scf.for %[[J:.*]] =
// CHECK: %[[V:.*]] = vector.load %[[TABLE]][%[[ROW]], %[[J]]]
// CHECK: vector.store %[[V]], %{{.*}}[%[[I]], %[[J]]]
func.func @gather_rows(%ids: memref<?xi64>, %table: memref<203x32xf32>, %out: memref<?x32xf32>) {
  linalg.generic {indexing_maps = [#row, #full], iterator_types = ["parallel", "parallel"]} ins(%ids : memref<?xi64>) outs(%out : memref<?x32xf32>) {
  ^bb0(%id: i64, %o: f32):
    %row = arith.index_cast %id : i64 to index
    %column = linalg.index 1 : index
    %v = memref.load %table[%row, %column] : memref<203x32xf32>
    linalg.yield %v : f32
  }
  return
}

// In an integer mask, 0 hides a key.
// CHECK-LABEL: @select_i64
// CHECK: %[[X:.*]] = vector.load %{{.*}} : memref<?x32xi64>, vector<16xi64>
// CHECK: %[[HIDDEN:.*]] = arith.cmpi eq, %[[X]], %{{.*}} : vector<16xi64>
// CHECK: arith.select %[[HIDDEN]], %{{.*}} : vector<16xi1>, vector<16xf32>
func.func @select_i64(%x: memref<?x32xi64>, %out: memref<?x32xf32>) {
  %zero = arith.constant 0 : i64
  %seen = arith.constant 0.0 : f32
  %lowest = arith.constant -3.40282347E+38 : f32
  linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel"]} ins(%x : memref<?x32xi64>) outs(%out : memref<?x32xf32>) {
  ^bb0(%l: i64, %o: f32):
    %hidden = arith.cmpi eq, %l, %zero : i64
    %s = arith.select %hidden, %lowest, %seen : f32
    linalg.yield %s : f32
  }
  return
}

// linalg.index of the last dimension is a vector of lane numbers; of the others it is a scalar.
// CHECK-LABEL: @index
// CHECK: scf.for %[[I:.*]] =
// CHECK: scf.for %[[J:.*]] =
// CHECK-DAG: vector.step : vector<16xindex>
// CHECK-DAG: vector.broadcast %[[J]]
// CHECK: vector.store %{{.*}} : memref<?x32xi64>, vector<16xi64>
func.func @index(%out: memref<?x32xi64>) {
  linalg.generic {indexing_maps = [#full], iterator_types = ["parallel", "parallel"]} outs(%out : memref<?x32xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %sum = arith.addi %i, %j : index
    %v = arith.index_cast %sum : index to i64
    linalg.yield %v : i64
  }
  return
}

// Strided copies, too: no call is left.
// CHECK-LABEL: @copy
// CHECK-SAME: (%[[X:[a-z0-9]+]]: memref<?x32xf32, strided<[64, 1]>>, %[[OUT:[a-z0-9]+]]: memref<?x32xf32>)
// CHECK: %[[V:.*]] = vector.load %[[X]]
// CHECK: vector.store %[[V]], %[[OUT]]
// CHECK-NOT: memref.copy
// CHECK: return
func.func @copy(%x: memref<?x32xf32, strided<[64, 1]>>, %out: memref<?x32xf32>) {
  memref.copy %x, %out : memref<?x32xf32, strided<[64, 1]>> to memref<?x32xf32>
  return
}
