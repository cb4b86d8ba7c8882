// RUN: attune-opt %s --attune-select-kernels --split-input-file --verify-diagnostics --remarks-filter-missed=attune-select-kernels --remark-format=emitRemark | FileCheck %s

// The loop over register tiles is merged: tiles are for Halide to choose. Within one panel its number is 0.
// CHECK-LABEL: func.func private @linear
// CHECK-SAME: backend = "halide"
// CHECK: scf.forall (%[[I:.*]], %[[J:.*]]) =
// CHECK: %[[ROWS:.*]] = affine.min
// CHECK: %[[COLUMNS:.*]] = affine.min
// CHECK: %[[TARGET:.*]] = tensor.extract_slice %{{.*}}[%{{.*}}, 0] [%[[ROWS]], %[[COLUMNS]]]
// CHECK: halide.tile "halide_linear" with(%[[ROWS]], %[[COLUMNS]]) ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x24xf32>, tensor<1x24x?xf32>, tensor<?xf32>) outs(%[[TARGET]] : tensor<?x?xf32>)
// CHECK-SAME: (kernel halide_linear (size n0 128) (size n1 32) (input a0 f32 24 1) (input a1 f32 768 32 1) (input a2 f32 1)
// CHECK-SAME: (stage s0 (parallel n0) (parallel n1) (reduce 24) (init 0.0) (add acc (mul (load a0 d0 d2) (load a1 0 d2 d1))))
// CHECK-SAME: (stage s1 (parallel n0) (parallel n1) (max (add (load s0 d0 d1) (load a2 d1)) 0.0))
// CHECK-SAME: (output o0 s1 f32 40 1))
// CHECK-SAME: strides = [array<i64: 24, 1>, array<i64: 768, 32, 1>, array<i64: 1>, array<i64: 40, 1>]
// CHECK-NOT: linalg
#rows = affine_map<(d0)[s0] -> (-d0 + s0, 128)>
#columns = affine_map<(d0) -> (-d0 + 40, 32)>
#tile = affine_map<(d0)[s0] -> (-d0 + s0, 12)>
#panel = affine_map<(d0) -> (d0 floordiv 32)>
func.func private @linear(%x: tensor<?x24xf32>, %w: tensor<2x24x32xf32>, %b: tensor<40xf32>, %y: tensor<?x40xf32>) -> tensor<?x40xf32>
    attributes {tile.kernel = #tile.kernel<"linear 24 -> 40, bias, relu">} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c12 = arith.constant 12 : index
  %n = tensor.dim %x, %c0 : tensor<?x24xf32>
  %r = scf.forall (%i, %j) = (0, 0) to (%n, 40) step (128, 32) shared_outs(%o = %y) -> (tensor<?x40xf32>) {
    %rows = affine.min #rows(%i)[%n]
    %columns = affine.min #columns(%j)
    %p = affine.apply #panel(%j)
    %block = tensor.extract_slice %o[%i, %j] [%rows, %columns] [1, 1] : tensor<?x40xf32> to tensor<?x?xf32>
    %all = scf.for %k = %c0 to %rows step %c12 iter_args(%acc = %block) -> (tensor<?x?xf32>) {
      %size = affine.min #tile(%k)[%rows]
      %first = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%k, %i)
      %xs = tensor.extract_slice %x[%first, 0] [%size, 24] [1, 1] : tensor<?x24xf32> to tensor<?x24xf32>
      %ws = tensor.extract_slice %w[%p, 0, 0] [1, 24, %columns] [1, 1, 1] : tensor<2x24x32xf32> to tensor<1x24x?xf32>
      %empty = tensor.empty(%size, %columns) : tensor<?x?xf32>
      %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
      %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1 floordiv 32, d2, d1 mod 32)>,
                                              affine_map<(d0, d1, d2) -> (d0, d1)>],
                             iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%xs, %ws : tensor<?x24xf32>, tensor<1x24x?xf32>) outs(%fill : tensor<?x?xf32>) {
      ^bb0(%a: f32, %c: f32, %s: f32):
        %m = arith.mulf %a, %c : f32
        %t = arith.addf %s, %m : f32
        linalg.yield %t : f32
      } -> tensor<?x?xf32>
      %bs = tensor.extract_slice %b[%j] [%columns] [1] : tensor<40xf32> to tensor<?xf32>
      %to = tensor.extract_slice %acc[%k, 0] [%size, %columns] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
      %biased = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                                iterator_types = ["parallel", "parallel"]}
          ins(%sum, %bs : tensor<?x?xf32>, tensor<?xf32>) outs(%to : tensor<?x?xf32>) {
      ^bb0(%a: f32, %c: f32, %unused: f32):
        %t = arith.addf %a, %c : f32
        %u = arith.maximumf %t, %zero : f32
        linalg.yield %u : f32
      } -> tensor<?x?xf32>
      %inserted = tensor.insert_slice %biased into %acc[%k, 0] [%size, %columns] [1, 1] : tensor<?x?xf32> into tensor<?x?xf32>
      scf.yield %inserted : tensor<?x?xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %all into %o[%i, %j] [%rows, %columns] [1, 1] : tensor<?x?xf32> into tensor<?x40xf32>
    }
  }
  return %r : tensor<?x40xf32>
}

// -----

// A function that is not a kernel gets no attribute.
// CHECK-LABEL: func.func @negative_no_kernel
// CHECK-NOT: halide
func.func @negative_no_kernel(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  return %x : tensor<?x8xf32>
}

// -----

// The description of an embedding has a lookup of a row, and words for index casts and comparisons.
// CHECK-LABEL: func.func private @lookup
// CHECK: (input a0 i64 1) (input a1 f32 16 1)
// CHECK-SAME: (stage s0 (parallel n0) (parallel 16) (select (gt (load a0 d0) 3) (load a1 (int (load a0 d0)) d1) 1.0))
func.func private @lookup(%ids: tensor<?xi64>, %table: tensor<9x16xf32>, %y: tensor<?x16xf32>) -> tensor<?x16xf32> attributes {tile.kernel = #tile.kernel<"embedding">} {
  %c0 = arith.constant 0 : index
  %three = arith.constant 3 : i64
  %one = arith.constant 1.0 : f32
  %n = tensor.dim %ids, %c0 : tensor<?xi64>
  %r = scf.forall (%i) = (0) to (%n) step (8) shared_outs(%o = %y) -> (tensor<?x16xf32>) {
    %rows = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 8)>(%i)[%n]
    %from = tensor.extract_slice %ids[%i] [%rows] [1] : tensor<?xi64> to tensor<?xi64>
    %to = tensor.extract_slice %o[%i, 0] [%rows, 16] [1, 1] : tensor<?x16xf32> to tensor<?x16xf32>
    %e = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
        ins(%from : tensor<?xi64>) outs(%to : tensor<?x16xf32>) {
    ^bb0(%id: i64, %unused: f32):
      %at = arith.index_cast %id : i64 to index
      %d = linalg.index 1 : index
      %v = tensor.extract %table[%at, %d] : tensor<9x16xf32>
      %big = arith.cmpi sgt, %id, %three : i64
      %s = arith.select %big, %v, %one : f32
      linalg.yield %s : f32
    } -> tensor<?x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %e into %o[%i, 0] [%rows, 16] [1, 1] : tensor<?x16xf32> into tensor<?x16xf32>
    }
  }
  return %r : tensor<?x16xf32>
}

// -----

// A negative i32 is not the number that an extension with zeros or a conversion of an unsigned integer gives, and i8 has no type in a description.
// expected-remark @below {{not a kernel for Halide: operation 'arith.extui' of i32}}
func.func private @negative_extension(%x: tensor<?x8xi32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {tile.kernel = #tile.kernel<"extension">} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xi32>
  %r = scf.forall (%i) in (%n) shared_outs(%o = %y) -> (tensor<?x8xf32>) {
    %from = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<?x8xi32> to tensor<1x8xi32>
    %to = tensor.extract_slice %o[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<1x8xf32>
    %e = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
        ins(%from : tensor<1x8xi32>) outs(%to : tensor<1x8xf32>) {
    ^bb0(%a: i32, %unused: f32):
      %b = arith.extui %a : i32 to i64
      %v = arith.sitofp %b : i64 to f32
      linalg.yield %v : f32
    } -> tensor<1x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %e into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<?x8xf32>
    }
  }
  return %r : tensor<?x8xf32>
}

// -----

// expected-remark @below {{not a kernel for Halide: operation 'arith.uitofp' of i32}}
func.func private @negative_unsigned(%x: tensor<?x8xi32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {tile.kernel = #tile.kernel<"unsigned">} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xi32>
  %r = scf.forall (%i) in (%n) shared_outs(%o = %y) -> (tensor<?x8xf32>) {
    %from = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<?x8xi32> to tensor<1x8xi32>
    %to = tensor.extract_slice %o[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<1x8xf32>
    %e = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
        ins(%from : tensor<1x8xi32>) outs(%to : tensor<1x8xf32>) {
    ^bb0(%a: i32, %unused: f32):
      %v = arith.uitofp %a : i32 to f32
      linalg.yield %v : f32
    } -> tensor<1x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %e into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<?x8xf32>
    }
  }
  return %r : tensor<?x8xf32>
}

// -----

// expected-remark @below {{not a kernel for Halide: operation 'arith.index_castui' of i32}}
func.func private @negative_cast(%x: tensor<?x8xi32>, %table: tensor<9xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {tile.kernel = #tile.kernel<"cast">} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xi32>
  %r = scf.forall (%i) in (%n) shared_outs(%o = %y) -> (tensor<?x8xf32>) {
    %from = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<?x8xi32> to tensor<1x8xi32>
    %to = tensor.extract_slice %o[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<1x8xf32>
    %e = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
        ins(%from : tensor<1x8xi32>) outs(%to : tensor<1x8xf32>) {
    ^bb0(%a: i32, %unused: f32):
      %b = arith.index_castui %a : i32 to index
      %v = tensor.extract %table[%b] : tensor<9xf32>
      linalg.yield %v : f32
    } -> tensor<1x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %e into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<?x8xf32>
    }
  }
  return %r : tensor<?x8xf32>
}

// -----

// expected-remark @below {{not a kernel for Halide: operation 'arith.trunci' of i32}}
func.func private @negative_truncation(%x: tensor<?x8xi32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {tile.kernel = #tile.kernel<"truncation">} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xi32>
  %r = scf.forall (%i) in (%n) shared_outs(%o = %y) -> (tensor<?x8xf32>) {
    %from = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<?x8xi32> to tensor<1x8xi32>
    %to = tensor.extract_slice %o[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<1x8xf32>
    %e = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
        ins(%from : tensor<1x8xi32>) outs(%to : tensor<1x8xf32>) {
    ^bb0(%a: i32, %unused: f32):
      %b = arith.trunci %a : i32 to i8
      %v = arith.sitofp %b : i8 to f32
      linalg.yield %v : f32
    } -> tensor<1x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %e into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<?x8xf32>
    }
  }
  return %r : tensor<?x8xf32>
}

// -----

// expected-remark @below {{not a kernel for Halide: operation 'math.cbrt' has no equivalent}}
func.func private @negative_operation(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {tile.kernel = #tile.kernel<"cbrt">} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %r = scf.forall (%i) in (%n) shared_outs(%o = %y) -> (tensor<?x8xf32>) {
    %from = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<1x8xf32>
    %to = tensor.extract_slice %o[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<1x8xf32>
    // The kernel is not changed.
    // CHECK-LABEL: @negative_operation
    // CHECK-NOT: backend =
    // CHECK: linalg.generic
    %e = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
        ins(%from : tensor<1x8xf32>) outs(%to : tensor<1x8xf32>) {
    ^bb0(%a: f32, %unused: f32):
      %v = math.cbrt %a : f32
      linalg.yield %v : f32
    } -> tensor<1x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %e into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<?x8xf32>
    }
  }
  return %r : tensor<?x8xf32>
}

// -----

// A product without an epilogue has a stage after it that hosts its tiles; one that another kernel has, too, has its name.
// CHECK-LABEL: func.func private @product
// CHECK: halide.tile "halide_product"
// CHECK-SAME: (stage s0 (parallel n0) (parallel 32) (reduce 24) (init 0.0) (add acc (mul (load a0 d0 d2) (load a1 d2 d1))))
// CHECK-SAME: (stage s1 (parallel n0) (parallel 32) (load s0 d0 d1)) (output o0 s1 f32 32 1))
// CHECK-LABEL: func.func private @same_product
// CHECK: halide.tile "halide_product"
func.func private @product(%x: tensor<?x24xf32>, %w: tensor<24x32xf32>, %y: tensor<?x32xf32>) -> tensor<?x32xf32> attributes {tile.kernel = #tile.kernel<"product">} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x24xf32>
  %r = scf.forall (%i) = (0) to (%n) step (8) shared_outs(%o = %y) -> (tensor<?x32xf32>) {
    %rows = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 8)>(%i)[%n]
    %from = tensor.extract_slice %x[%i, 0] [%rows, 24] [1, 1] : tensor<?x24xf32> to tensor<?x24xf32>
    %to = tensor.extract_slice %o[%i, 0] [%rows, 32] [1, 1] : tensor<?x32xf32> to tensor<?x32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%to : tensor<?x32xf32>) -> tensor<?x32xf32>
    %e = linalg.matmul ins(%from, %w : tensor<?x24xf32>, tensor<24x32xf32>) outs(%f : tensor<?x32xf32>) -> tensor<?x32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %e into %o[%i, 0] [%rows, 32] [1, 1] : tensor<?x32xf32> into tensor<?x32xf32>
    }
  }
  return %r : tensor<?x32xf32>
}
func.func private @same_product(%x: tensor<?x24xf32>, %w: tensor<24x32xf32>, %y: tensor<?x32xf32>) -> tensor<?x32xf32> attributes {tile.kernel = #tile.kernel<"same product">} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x24xf32>
  %r = scf.forall (%i) = (0) to (%n) step (8) shared_outs(%o = %y) -> (tensor<?x32xf32>) {
    %rows = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 8)>(%i)[%n]
    %from = tensor.extract_slice %x[%i, 0] [%rows, 24] [1, 1] : tensor<?x24xf32> to tensor<?x24xf32>
    %to = tensor.extract_slice %o[%i, 0] [%rows, 32] [1, 1] : tensor<?x32xf32> to tensor<?x32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%to : tensor<?x32xf32>) -> tensor<?x32xf32>
    %e = linalg.matmul ins(%from, %w : tensor<?x24xf32>, tensor<24x32xf32>) outs(%f : tensor<?x32xf32>) -> tensor<?x32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %e into %o[%i, 0] [%rows, 32] [1, 1] : tensor<?x32xf32> into tensor<?x32xf32>
    }
  }
  return %r : tensor<?x32xf32>
}

// -----

// Constants, and rows looked up at affine indices.
// CHECK-LABEL: func.func private @fill
// CHECK: (stage s0 (parallel n0) (parallel 16) 2.0)
func.func private @fill(%y: tensor<?x16xf32>) -> tensor<?x16xf32> attributes {tile.kernel = #tile.kernel<"fill">} {
  %two = arith.constant 2.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %y, %c0 : tensor<?x16xf32>
  %r = scf.forall (%i) = (0) to (%n) step (8) shared_outs(%o = %y) -> (tensor<?x16xf32>) {
    %rows = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 8)>(%i)[%n]
    %to = tensor.extract_slice %o[%i, 0] [%rows, 16] [1, 1] : tensor<?x16xf32> to tensor<?x16xf32>
    %f = linalg.fill ins(%two : f32) outs(%to : tensor<?x16xf32>) -> tensor<?x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %f into %o[%i, 0] [%rows, 16] [1, 1] : tensor<?x16xf32> into tensor<?x16xf32>
    }
  }
  return %r : tensor<?x16xf32>
}
// CHECK-LABEL: func.func private @first_tokens
// CHECK: halide.tile "halide_first_tokens" with(%{{.*}}, %[[I:.*]]) ins
// CHECK-SAME: (size n0 8) (value n1)
// CHECK-SAME: (load a0 (int (load a1 (min (add d0 n1) (add d0 7)))) d1)
func.func private @first_tokens(%offsets: tensor<?xi64>, %x: tensor<?x16xf32>, %y: tensor<?x16xf32>) -> tensor<?x16xf32> attributes {tile.kernel = #tile.kernel<"first tokens">} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %y, %c0 : tensor<?x16xf32>
  %r = scf.forall (%i) = (0) to (%n) step (8) shared_outs(%o = %y) -> (tensor<?x16xf32>) {
    %rows = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 8)>(%i)[%n]
    %to = tensor.extract_slice %o[%i, 0] [%rows, 16] [1, 1] : tensor<?x16xf32> to tensor<?x16xf32>
    %e = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%to : tensor<?x16xf32>) {
    ^bb0(%unused: f32):
      %row = linalg.index 0 : index
      %place = affine.min affine_map<(d0)[s0] -> (d0 + s0, d0 + 7)>(%row)[%i]
      %token = tensor.extract %offsets[%place] : tensor<?xi64>
      %at = arith.index_cast %token : i64 to index
      %d = linalg.index 1 : index
      %v = tensor.extract %x[%at, %d] : tensor<?x16xf32>
      linalg.yield %v : f32
    } -> tensor<?x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %e into %o[%i, 0] [%rows, 16] [1, 1] : tensor<?x16xf32> into tensor<?x16xf32>
    }
  }
  return %r : tensor<?x16xf32>
}

// -----

// Kernels of lower precision are not selected.
// expected-remark @below {{not a kernel for Halide: elements of type bf16}}
func.func private @negative_bf16(%x: tensor<8x8xbf16>, %y: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {tile.kernel = #tile.kernel<"bf16">} {
  %r = scf.forall (%i) in (8) shared_outs(%o = %y) -> (tensor<8x8xf32>) {
    %from = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<8x8xbf16> to tensor<1x8xbf16>
    %to = tensor.extract_slice %o[%i, 0] [1, 8] [1, 1] : tensor<8x8xf32> to tensor<1x8xf32>
    %e = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
        ins(%from : tensor<1x8xbf16>) outs(%to : tensor<1x8xf32>) {
    ^bb0(%a: bf16, %unused: f32):
      %v = arith.extf %a : bf16 to f32
      linalg.yield %v : f32
    } -> tensor<1x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %e into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<8x8xf32>
    }
  }
  return %r : tensor<8x8xf32>
}

// -----

// expected-remark @below {{not a kernel for Halide: it contains 'tile.quantize_rows'}}
func.func private @negative_bf16(%x: tensor<8x16xf32>, %y: tensor<8x16xbf16>) -> tensor<8x16xbf16> attributes {tile.kernel = #tile.kernel<"rows of 16 as bf16">} {
  %r = scf.forall (%i) in (1) shared_outs(%o = %y) -> (tensor<8x16xbf16>) {
    %to = tensor.extract_slice %o[0, 0] [8, 16] [1, 1] : tensor<8x16xbf16> to tensor<8x16xbf16>
    %p = tile.quantize_rows ins(%x : tensor<8x16xf32>) outs(%to : tensor<8x16xbf16>) -> tensor<8x16xbf16>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %p into %o[0, 0] [8, 16] [1, 1] : tensor<8x16xbf16> into tensor<8x16xbf16>
    }
  }
  return %r : tensor<8x16xbf16>
}

// -----

// Loops that do not compute rows of their result are not tiles.
// CHECK-LABEL: func.func private @negative_tiles
// CHECK-SAME: not by Halide
// expected-remark @below {{not a kernel for Halide: it contains 'scf.for'}}
func.func private @negative_tiles(%x: tensor<?x?xf32>, %y: tensor<?x1xf32>) attributes {tile.kernel = #tile.kernel<"rows">} {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %0 = scf.forall (%i, %j) = (0, 0) to (%c0, 1) step (%c1, 32) shared_outs(%o = %y) -> (tensor<?x1xf32>) {
    %slice = tensor.extract_slice %o[%i, %j] [%i, %j] [1, 1] : tensor<?x1xf32> to tensor<?x?xf32>
    %1 = scf.for %k = %c0 to %i step %c1 iter_args(%rows = %slice) -> (tensor<?x?xf32>) {
      %inserted = tensor.insert_slice %x into %rows[%k, 0] [%k, %j] [1, 1] : tensor<?x?xf32> into tensor<?x?xf32>
      scf.yield %inserted : tensor<?x?xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %o[%i, %j] [%i, %j] [1, 1] : tensor<?x?xf32> into tensor<?x1xf32>
    }
  }
  return
}
