// RUN: attune-opt %s --attune-lower-launches --split-input-file --verify-diagnostics | FileCheck %s

// A launch passes the state of the call, the number of the kernel in its module, the bytes of shared memory, the
// numbers of blocks and threads, and the addresses of the arguments, which are on the stack. A buffer is five values,
// the members of its descriptor.
// CHECK-LABEL: func.func @fires
// CHECK-SAME: (%[[STATE:.*]]: !llvm.ptr, %[[BUFFER:.*]]: memref<?xf32>, %[[X:.*]]: f32, %[[N:.*]]: index)
// CHECK-DAG: %[[VALUES:.*]] = llvm.alloca %{{.*}} x !llvm.array<6 x i64> {alignment = 8 : i64}
// CHECK-DAG: %[[ARGS:.*]] = llvm.alloca %{{.*}} x !llvm.array<6 x i64> {alignment = 8 : i64}
// CHECK: llvm.store %[[X]], %{{.*}} : f32, !llvm.ptr
// CHECK-COUNT-5: llvm.store %{{.*}}, %{{.*}} : !llvm.ptr, !llvm.ptr
// CHECK: %[[SECOND:.*]] = llvm.mlir.constant(1 : i32)
// CHECK: llvm.call @launch_on(%[[STATE]], %[[SECOND]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, i32, i32, i64, i32, !llvm.ptr) -> ()
// CHECK-NOT: gpu.launch_func
module attributes {gpu.container_module} {
func.func @fires(%state: !llvm.ptr, %buffer: memref<?xf32>, %x: f32, %n: index) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %bytes = arith.constant 128 : i32
  gpu.launch_func @device::@second blocks in (%n, %c1, %c1) threads in (%c64, %c1, %c1) dynamic_shared_memory_size %bytes args(%x : f32, %buffer : memref<?xf32>)
  return
}
gpu.module @device {
  gpu.func @first() kernel {
    gpu.return
  }
  gpu.func @second(%x: f32, %buffer: memref<?xf32>) kernel {
    gpu.return
  }
}
// No blocks, or an error earlier in the call: nothing is launched. The result of the host is the error in the state.
// CHECK-LABEL: llvm.func internal @launch_on(
// CHECK-SAME: %[[STATE:[^:]*]]: !llvm.ptr, %{{.*}}: i32, %{{.*}}: i32, %[[BLOCKS:[^:]*]]: i64
// CHECK: %[[ERROR_AT:.*]] = llvm.getelementptr %[[STATE]][8]
// CHECK: %[[ERROR:.*]] = llvm.load %[[ERROR_AT]] : !llvm.ptr -> i32
// CHECK: %[[OK:.*]] = llvm.icmp "eq" %[[ERROR]]
// CHECK: %[[SOME:.*]] = llvm.icmp "sgt" %[[BLOCKS]]
// CHECK: %[[BOTH:.*]] = llvm.and %[[OK]], %[[SOME]]
// CHECK: llvm.cond_br %[[BOTH]], ^[[LAUNCH:.*]], ^[[DONE:[a-z0-9]*]]
// CHECK: ^[[LAUNCH]]:
// CHECK: %[[STATUS:.*]] = llvm.call %{{.*}}(%{{.*}}, %{{.*}}) : !llvm.ptr, (!llvm.ptr, !llvm.ptr) -> i32
// CHECK: llvm.store %[[STATUS]]
}

// -----

// Values that a function reads from the host: the compute capability with the flag of images that no other GPU takes (0x10000 + 90), the number of workers.
// CHECK-LABEL: func.func @questions
// CHECK-SAME: (%[[STATE:.*]]: !llvm.ptr)
// CHECK: %[[HOST_AT:.*]] = llvm.getelementptr %[[STATE]][0]
// CHECK: %[[HOST:.*]] = llvm.load %[[HOST_AT]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[ARCH_AT:.*]] = llvm.getelementptr %[[HOST]][4]
// CHECK: %[[ARCH:.*]] = llvm.load %[[ARCH_AT]] : !llvm.ptr -> i32
// CHECK: %[[HOPPER:.*]] = llvm.mlir.constant(65626 : i32)
// CHECK: llvm.icmp "eq" %[[ARCH]], %[[HOPPER]]
// CHECK: llvm.getelementptr %{{.*}}[16]
// CHECK: %[[COUNT:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i64
// CHECK: builtin.unrealized_conversion_cast %[[COUNT]] : i64 to index
// CHECK-NOT: @launch_on
func.func @questions(%state: !llvm.ptr) -> (i1, index) {
  %hopper = rt.device_arch_is 90
  %workers = rt.worker_count
  return %hopper, %workers : i1, index
}

// -----

// A TMA descriptor is on the stack, 128 bytes at a multiple of 64. The host fills it; the first error counts.
// CHECK-LABEL: func.func @map
// CHECK-SAME: (%[[STATE:.*]]: !llvm.ptr,
// CHECK-DAG: %[[STRUCTURE:.*]] = llvm.alloca %{{.*}} x !llvm.array<128 x i8> {alignment = 8 : i64}
// CHECK-DAG: %[[OUT:.*]] = llvm.alloca %{{.*}} x !llvm.array<128 x i8> {alignment = 64 : i64}
// CHECK: %[[STATUS:.*]] = llvm.call %{{.*}}(%{{.*}}, %[[STRUCTURE]], %[[OUT]]) : !llvm.ptr, (!llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
// CHECK: %[[BEFORE:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i32
// CHECK: %[[FAILED:.*]] = llvm.icmp "ne" %[[BEFORE]]
// CHECK: llvm.select %[[FAILED]], %[[BEFORE]], %[[STATUS]]
// CHECK: return %[[OUT]]
func.func @map(%state: !llvm.ptr, %x: memref<?x768xbf16>, %rows: index, %k: index) -> !llvm.ptr {
  %map = rt.tensor_map %x sizes [%rows, %k] strides [%k] {box = array<i64: 128, 64>, element_bytes = 2 : i64, swizzle = 128 : i64} : memref<?x768xbf16>
  return %map : !llvm.ptr
}

// -----

// A module that launches nothing has no function that launches.
// CHECK-LABEL: func.func @does_not_fire
// CHECK-NOT: llvm.func
func.func @does_not_fire(%state: !llvm.ptr) {
  return
}

// -----

func.func @refuses_function(%n: index) -> index {
  // expected-error @below {{expects a function whose first argument points to the host and the first error of a call}}
  %workers = rt.worker_count
  return %workers : index
}

// -----

module attributes {gpu.container_module} {
func.func @refuses_layout(%state: !llvm.ptr, %x: memref<8xf32, affine_map<(i) -> (i floordiv 4, i mod 4)>>, %n: index) {
  // expected-error @below {{cannot pass a buffer of this layout: 'memref<8xf32, affine_map<(d0) -> (d0 floordiv 4, d0 mod 4)>>'}}
  gpu.launch_func @device::@tiled blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%x : memref<8xf32, affine_map<(i) -> (i floordiv 4, i mod 4)>>)
  return
}
gpu.module @device {
  gpu.func @tiled(%x: memref<8xf32, affine_map<(i) -> (i floordiv 4, i mod 4)>>) kernel {
    gpu.return
  }
}
}
