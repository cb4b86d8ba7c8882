// RUN: attune-opt %s --attune-lower-parallel-calls --split-input-file --verify-diagnostics | FileCheck %s

// The captures of a buffer of dynamic size are its pointer and the size; its type determines offset and strides. A
// captured scalar is stored unchanged.
// CHECK-LABEL: func.func private @body
// CHECK: llvm.func internal @body_body(%[[CONTEXT:.*]]: !llvm.ptr, %[[WORKER:.*]]: i64, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64)
// CHECK: %[[AT0:.*]] = llvm.getelementptr %[[CONTEXT]][0, 0] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, i64, f32)>
// CHECK: %[[DATA:.*]] = llvm.load %[[AT0]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[AT1:.*]] = llvm.getelementptr %[[CONTEXT]][0, 1]
// CHECK: %[[SIZE:.*]] = llvm.load %[[AT1]] : !llvm.ptr -> i64
// CHECK: llvm.insertvalue %[[SIZE]], %{{.*}}[3, 0]
// CHECK: %[[BUFFER:.*]] = builtin.unrealized_conversion_cast %{{.*}} : !llvm.struct<{{.*}}> to memref<?x4xf32>
// CHECK: %[[AT2:.*]] = llvm.getelementptr %[[CONTEXT]][0, 2]
// CHECK: %[[X:.*]] = llvm.load %[[AT2]] : !llvm.ptr -> f32
// CHECK-DAG: %[[W:.*]] = builtin.unrealized_conversion_cast %[[WORKER]] : i64 to index
// CHECK-DAG: %[[B:.*]] = builtin.unrealized_conversion_cast %[[BEGIN]] : i64 to index
// CHECK-DAG: %[[E:.*]] = builtin.unrealized_conversion_cast %[[END]] : i64 to index
// CHECK: call @body(%[[BUFFER]], %[[X]], %[[W]], %[[B]], %[[E]])
func.func private @body(%buffer: memref<?x4xf32>, %x: f32, %worker: index, %begin: index, %end: index) {
  return
}
// The structure is on the stack of the caller, outside of its loops. The fields of attune_host are 8 (pool) and 24 (parallel_for) bytes from its start.
// CHECK-LABEL: func.func @fires
// CHECK-SAME: (%[[HOST:.*]]: !llvm.ptr,
// CHECK: %[[STORAGE:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(ptr, i64, f32)> {alignment = 8 : i64}
// CHECK: scf.for
// CHECK-COUNT-3: llvm.store %{{.*}}, %{{.*}}
// CHECK: %[[POOL_AT:.*]] = llvm.getelementptr %[[HOST]][8]
// CHECK: %[[POOL:.*]] = llvm.load %[[POOL_AT]]
// CHECK: %[[FOR_AT:.*]] = llvm.getelementptr %[[HOST]][24]
// CHECK: %[[FOR:.*]] = llvm.load %[[FOR_AT]]
// CHECK: %[[BODY:.*]] = llvm.mlir.addressof @body_body
// CHECK: llvm.call %[[FOR]](%[[POOL]], %{{.*}}, %{{.*}}, %[[BODY]], %[[STORAGE]]) : !llvm.ptr, (!llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr) -> ()
// CHECK-NOT: rt.parallel_call
func.func @fires(%host: !llvm.ptr, %n: index, %buffer: memref<?x4xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    rt.parallel_call %host, %n, %c1 @body(%buffer, %x) : memref<?x4xf32>, f32
  }
  return
}

// -----

// A view: its offset and strides are dynamic and stored with the pointer and the size.
// CHECK: llvm.func internal @view_body
// CHECK: !llvm.struct<(ptr, i64, i64, i64)>
func.func private @view(%x: memref<?xf32, strided<[?], offset: ?>>, %worker: index, %begin: index, %end: index) {
  return
}
func.func @captures_view(%host: !llvm.ptr, %n: index, %x: memref<?xf32, strided<[?], offset: ?>>) {
  rt.parallel_call %host, %n, %n @view(%x) : memref<?xf32, strided<[?], offset: ?>>
  return
}

// -----

// A module without parallel calls is not changed.
// CHECK-LABEL: func.func @does_not_fire
// CHECK-NEXT: return
// CHECK-NOT: llvm
func.func @does_not_fire(%host: !llvm.ptr, %n: index) {
  return
}

// -----

func.func private @tiled(%x: memref<8xf32, affine_map<(i) -> (i floordiv 4, i mod 4)>>, %worker: index, %begin: index, %end: index) {
  return
}
func.func @refuses_layout(%host: !llvm.ptr, %n: index, %x: memref<8xf32, affine_map<(i) -> (i floordiv 4, i mod 4)>>) {
  // expected-error @below {{cannot pass a buffer of this layout: 'memref<8xf32, affine_map<(d0) -> (d0 floordiv 4, d0 mod 4)>>'}}
  rt.parallel_call %host, %n, %n @tiled(%x) : memref<8xf32, affine_map<(i) -> (i floordiv 4, i mod 4)>>
  return
}

// -----

func.func private @twice(%worker: index, %begin: index, %end: index) {
  return
}
func.func private @twice_body() {
  return
}
func.func @refuses_symbol(%host: !llvm.ptr, %n: index) {
  // expected-error @below {{symbol 'twice_body' is taken}}
  rt.parallel_call %host, %n, %n @twice()
  return
}
