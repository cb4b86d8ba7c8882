// RUN: attune-opt %s --attune-vectorize-tiles --remarks-filter-missed=attune-vectorize-tiles --remark-format=emitRemark -verify-diagnostics | FileCheck %s
// Operations without a vector form become scalar loops, with a remark that gives the reason.

#full = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#a = affine_map<(m, n, k) -> (m, k)>
#c = affine_map<(m, n, k) -> (m, n)>
#pairs = affine_map<(m, n, k) -> (n floordiv 32, k floordiv 2, n mod 32, k mod 2)>

// CHECK-LABEL: @transposed
// CHECK-NOT: vector
// CHECK: memref.store
// CHECK-NOT: linalg
// CHECK: return
func.func @transposed(%x: memref<8x8xf32>, %out: memref<8x8xf32>) {
  // expected-remark @below {{scalar loops: an operand is not contiguous along the last loop}}
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (n, m)>, #full], iterator_types = ["parallel", "parallel"]} ins(%x : memref<8x8xf32>) outs(%out : memref<8x8xf32>) {
  ^bb0(%l: f32, %o: f32):
    linalg.yield %l : f32
  }
  return
}
func.func @strided(%x: memref<8x8xf32, strided<[16, 2]>>) {
  %zero = arith.constant 0.0 : f32
  // expected-remark @below {{scalar loops: an operand is not contiguous along the last loop}}
  linalg.fill ins(%zero : f32) outs(%x : memref<8x8xf32, strided<[16, 2]>>)
  return
}
func.func @f64(%x: memref<8xf64>) {
  %zero = arith.constant 0.0 : f64
  // expected-remark @below {{scalar loops: an operand has elements that are none of f32, bf16, i64 and i32}}
  linalg.fill ins(%zero : f64) outs(%x : memref<8xf64>)
  return
}
func.func @rank_0(%x: memref<f32>) {
  %zero = arith.constant 0.0 : f32
  // expected-remark @below {{scalar loops: it has no loop}}
  linalg.fill ins(%zero : f32) outs(%x : memref<f32>)
  return
}
func.func @two_outputs(%x: memref<8x8xf32>, %y: memref<8x8xf32>) {
  // expected-remark @below {{scalar loops: it has more than one output}}
  linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel"]} outs(%x, %y : memref<8x8xf32>, memref<8x8xf32>) {
  ^bb0(%l: f32, %r: f32):
    linalg.yield %r, %l : f32, f32
  }
  return
}
func.func @product(%x: memref<8x8xf32>, %out: memref<8xf32>) {
  // expected-remark @below {{scalar loops: its reduction is neither a sum nor a maximum}}
  linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x8xf32>) outs(%out : memref<8xf32>) {
  ^bb0(%l: f32, %acc: f32):
    %s = arith.mulf %acc, %l : f32
    linalg.yield %s : f32
  }
  return
}
func.func @sum_of_columns(%x: memref<8x8xf32>, %out: memref<8xf32>) {
  // expected-remark @below {{scalar loops: it reduces over other loops than the last}}
  linalg.generic {indexing_maps = [#full, affine_map<(m, n) -> (n)>], iterator_types = ["reduction", "parallel"]} ins(%x : memref<8x8xf32>) outs(%out : memref<8xf32>) {
  ^bb0(%l: f32, %acc: f32):
    %s = arith.addf %acc, %l : f32
    linalg.yield %s : f32
  }
  return
}
func.func @side_effect(%out: memref<8xf32>, %other: memref<8xf32>) {
  // expected-remark @below {{scalar loops: its body has an operation without a vector form}}
  linalg.generic {indexing_maps = [affine_map<(n) -> (n)>], iterator_types = ["parallel"]} outs(%out : memref<8xf32>) {
  ^bb0(%l: f32):
    %i = linalg.index 0 : index
    memref.store %l, %other[%i] : memref<8xf32>
    linalg.yield %l : f32
  }
  return
}
// Scattered elements would need one address per lane.
func.func @gather_elements(%x: memref<?xf32>, %at: memref<8xi64>, %out: memref<8xf32>) {
  // expected-remark @below {{scalar loops: it gathers elements that are not side by side}}
  linalg.generic {indexing_maps = [affine_map<(n) -> (n)>, affine_map<(n) -> (n)>], iterator_types = ["parallel"]} ins(%at : memref<8xi64>) outs(%out : memref<8xf32>) {
  ^bb0(%l: i64, %o: f32):
    %i = arith.index_cast %l : i64 to index
    %v = memref.load %x[%i] : memref<?xf32>
    linalg.yield %v : f32
  }
  return
}
func.func @gather_ids(%x: memref<?xi64>, %at: memref<8xi64>, %out: memref<8xi64>) {
  // expected-remark @below {{scalar loops: it gathers from a buffer that is not contiguous or not f32}}
  linalg.generic {indexing_maps = [affine_map<(n) -> (n)>, affine_map<(n) -> (n)>], iterator_types = ["parallel"]} ins(%at : memref<8xi64>) outs(%out : memref<8xi64>) {
  ^bb0(%l: i64, %o: i64):
    %i = arith.index_cast %l : i64 to index
    %v = memref.load %x[%i] : memref<?xi64>
    linalg.yield %v : i64
  }
  return
}

// The matrix is not packed into panels.
// CHECK-LABEL: @matmul
// CHECK-NOT: linalg
// CHECK: return
func.func @matmul(%x: memref<8x8xf32>, %w: memref<8x8xf32>, %out: memref<8x8xf32>) {
  // expected-remark @below {{scalar loops: an operand is not contiguous along the last loop}}
  linalg.matmul ins(%x, %w : memref<8x8xf32>, memref<8x8xf32>) outs(%out : memref<8x8xf32>)
  return
}

// Panels of another width than their rows are apart, of 12 columns, and two of them: the contraction says why, and then its loops.
func.func @other_width(%x: memref<8x8xf32>, %w: memref<1x8x32xf32>, %out: memref<8x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<8x32xf32>)
  // expected-remark @below {{scalar loops: its panels are not as wide as their rows are apart}}
  // expected-remark @below {{scalar loops: an operand is indexed by more than a loop}}
  linalg.generic {indexing_maps = [#a, affine_map<(m, n, k) -> (n floordiv 64, k, n mod 64)>, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<8x8xf32>, memref<1x8x32xf32>) outs(%out : memref<8x32xf32>) {
  ^bb0(%l: f32, %r: f32, %acc: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}
func.func @narrow(%x: memref<8x8xf32>, %w: memref<1x8x12xf32>, %out: memref<8x12xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<8x12xf32>)
  // expected-remark @below {{scalar loops: its panel width is not a known multiple of 16}}
  // expected-remark @below {{scalar loops: an operand is indexed by more than a loop}}
  linalg.generic {indexing_maps = [#a, affine_map<(m, n, k) -> (n floordiv 12, k, n mod 12)>, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<8x8xf32>, memref<1x8x12xf32>) outs(%out : memref<8x12xf32>) {
  ^bb0(%l: f32, %r: f32, %acc: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Rows of the other operand that are not contiguous.
func.func @strided_rows(%x: memref<8x8xf32, strided<[16, 2]>>, %w: memref<1x8x32xf32>, %out: memref<8x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<8x32xf32>)
  // expected-remark @below {{scalar loops: the rows of an operand are not contiguous}}
  // expected-remark @below {{scalar loops: an operand is not contiguous along the last loop}}
  linalg.generic {indexing_maps = [#a, affine_map<(m, n, k) -> (n floordiv 32, k, n mod 32)>, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<8x8xf32, strided<[16, 2]>>, memref<1x8x32xf32>) outs(%out : memref<8x32xf32>) {
  ^bb0(%l: f32, %r: f32, %acc: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}
// Low-precision weights in pairs of rows of K: rows of the other operand that are not contiguous, and a K that is not a number of pairs.
func.func @pairs_of_strided_rows(%x: memref<8x8xf32, strided<[16, 2]>>, %w: memref<1x4x32x2xbf16>, %out: memref<8x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<8x32xf32>)
  // expected-remark @below {{scalar loops: its rows are not contiguous}}
  // expected-remark @below {{scalar loops: an operand is not contiguous along the last loop}}
  linalg.generic {indexing_maps = [#a, #pairs, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<8x8xf32, strided<[16, 2]>>, memref<1x4x32x2xbf16>) outs(%out : memref<8x32xf32>) {
  ^bb0(%l: f32, %r: bf16, %acc: f32):
    %e = arith.extf %r : bf16 to f32
    %p = arith.mulf %l, %e : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}
func.func @half_a_pair(%x: memref<8x7xf32>, %w: memref<1x4x32x2xbf16>, %out: memref<8x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<8x32xf32>)
  // expected-remark @below {{scalar loops: its depth is not a multiple of the panels' groups}}
  // expected-remark @below {{scalar loops: an operand is indexed by more than a loop}}
  linalg.generic {indexing_maps = [#a, #pairs, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<8x7xf32>, memref<1x4x32x2xbf16>) outs(%out : memref<8x32xf32>) {
  ^bb0(%l: f32, %r: bf16, %acc: f32):
    %e = arith.extf %r : bf16 to f32
    %p = arith.mulf %l, %e : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Without zeros before it the contraction adds to the output, which the register tile does not do.
func.func @no_fill(%x: memref<8x8xf32>, %w: memref<1x8x32xf32>, %out: memref<8x32xf32>) {
  // expected-remark @below {{scalar loops: an operand is indexed by more than a loop}}
  linalg.generic {indexing_maps = [#a, affine_map<(m, n, k) -> (n floordiv 32, k, n mod 32)>, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<8x8xf32>, memref<1x8x32xf32>) outs(%out : memref<8x32xf32>) {
  ^bb0(%l: f32, %r: f32, %acc: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}
