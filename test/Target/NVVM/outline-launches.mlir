// RUN: attune-opt %s --attune-outline-launches=threads=64 | FileCheck %s
// RUN: attune-opt %s --attune-outline-launches=threads=64 --attune-lower-to-nvvm | FileCheck %s --check-prefix=LOWERED

// CHECK: module attributes {gpu.container_module}

// One block per iteration; the blocks compute their coordinates by division.
// CHECK-LABEL: func.func private @grid(%{{.*}}: !llvm.ptr {rt.role = #rt.role<host>}
// CHECK: %[[COUNT:.*]] = arith.muli
// CHECK: gpu.launch_func @attune_device::@grid blocks in (%[[COUNT]], %c1{{.*}}, %c1{{.*}}) threads in (%c64{{.*}}, %c1{{.*}}, %c1{{.*}}) dynamic_shared_memory_size %c128_i32
func.func private @grid(%a: memref<?x?xf32>, %x: f32, %m: index, %n: index) {
  scf.forall (%i, %j) in (%m, %n) {
    memref.store %x, %a[%i, %j] : memref<?x?xf32>
  } {rt.launch = #rt.launch<shared_bytes = 128>}
  return
}

// As many blocks as there is scratch for, each with its own.
// CHECK-LABEL: func.func private @workers
// CHECK: %[[BLOCKS:.*]] = arith.minsi %{{.*}}, %arg
// CHECK: gpu.launch_func @attune_device::@workers blocks in (%[[BLOCKS]]
func.func private @workers(%w: memref<?xi8>, %x: f32, %n: index, %workers: index {rt.role = #rt.role<workers>}) {
  %c64 = arith.constant 64 : index
  scf.forall (%i) in (%n) {
    %id = rt.worker_id
    %base = arith.muli %id, %c64 : index
    %v = memref.view %w[%base][%n] : memref<?xi8> to memref<?xf32>
    memref.store %x, %v[%i] : memref<?xf32>
  }
  return
}

// CHECK: gpu.module @attune_device
// CHECK: gpu.func @grid({{.*}}) kernel attributes {known_block_size = array<i32: 64, 1, 1>, nvvm.minctasm = 2 : i32, rt.device_function = #rt.device_function<"grid", shared_bytes = 128>}
// CHECK: %[[B:.*]] = gpu.block_id x
// CHECK: arith.remui %[[B]]
// CHECK: arith.divui %[[B]]
// CHECK: memref.store
// CHECK: gpu.return
// CHECK: gpu.func @workers({{.*}}rt.device_function = #rt.device_function<"workers", shared_bytes = 0>}
// CHECK: %[[W:.*]] = gpu.block_id x
// CHECK: %[[STEP:.*]] = gpu.grid_dim x
// CHECK: scf.for %{{.*}} = %[[W]] to %{{.*}} step %[[STEP]]
// CHECK: arith.muli %[[W]]
// CHECK: gpu.barrier

// The call and the kernel pass memrefs as the members of their descriptors.
// LOWERED: llvm.func internal @grid(%[[STATE:[a-z0-9]+]]: !llvm.ptr
// LOWERED: llvm.call @launch_on(%[[STATE]]
// LOWERED: gpu.module @attune_device
// LOWERED: llvm.func @grid(%{{.*}}: f32, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64)
// LOWERED-SAME: nvvm.kernel, nvvm.maxntid = array<i32: 64, 1, 1>
// More blocks than 2^31 - 1 become 2^32 - 1, which the runtime refuses: a number cut to 32 bits would launch too few.
// LOWERED: llvm.func internal @launch_on(%{{.*}}: !llvm.ptr, %{{.*}}: i32, %{{.*}}: i32, %[[COUNT:.*]]: i64, %{{.*}}: i32, %{{.*}}: !llvm.ptr)
// LOWERED-DAG: %[[MOST:.*]] = llvm.mlir.constant(2147483647 : i64)
// LOWERED-DAG: %[[ALL:.*]] = llvm.mlir.constant(-1 : i32)
// LOWERED: %[[TOO_MANY:.*]] = llvm.icmp "sgt" %[[COUNT]], %[[MOST]] : i64
// LOWERED: %[[CUT:.*]] = llvm.trunc %[[COUNT]] : i64 to i32
// LOWERED: %[[BLOCKS:.*]] = llvm.select %[[TOO_MANY]], %[[ALL]], %[[CUT]] : i1, i32
// LOWERED: llvm.store %[[BLOCKS]], %{{.*}} : i32, !llvm.ptr
