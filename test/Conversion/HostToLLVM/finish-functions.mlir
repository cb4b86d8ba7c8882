// RUN: attune-opt %s --attune-finish-functions | FileCheck %s

llvm.func @use(!llvm.ptr)

// A function that several calls share stays one copy: the time to compile must not grow with the number of layers.
// CHECK-LABEL: llvm.func internal @layer(
// CHECK-SAME: frame_pointer = #llvm.framePointerKind<none>
// CHECK-SAME: no_inline
// CHECK-SAME: no_unwind
llvm.func @layer(%x: !llvm.ptr) {
  llvm.return
}

// A function with one caller may be inlined.
// CHECK-LABEL: llvm.func internal @once(
// CHECK-NOT: no_inline
// CHECK-SAME: no_unwind
llvm.func @once(%x: !llvm.ptr) {
  llvm.return
}

// The runtime calls entries by their address: they keep their linkage.
// CHECK-LABEL: llvm.func @attune_model_forward(
// CHECK-NOT: no_inline
// CHECK-SAME: no_unwind
llvm.func @attune_model_forward(%x: !llvm.ptr) {
  llvm.call @layer(%x) : (!llvm.ptr) -> ()
  llvm.call @layer(%x) : (!llvm.ptr) -> ()
  llvm.call @once(%x) : (!llvm.ptr) -> ()
  llvm.return
}

// An allocation of constant size moves out of the loop together with its size, or each iteration would take more of the stack.
// CHECK-LABEL: llvm.func internal @constant_size(
// CHECK-NEXT: %[[SIZE:.*]] = llvm.mlir.constant(8 : i64)
// CHECK-NEXT: %[[X:.*]] = llvm.alloca %[[SIZE]] x f32
// CHECK-NEXT: llvm.br ^bb1
// CHECK: llvm.call @use(%[[X]])
llvm.func @constant_size(%stop: i1) {
  llvm.br ^loop
^loop:
  %size = llvm.mlir.constant(8 : i64) : i64
  %x = llvm.alloca %size x f32 : (i64) -> !llvm.ptr
  llvm.call @use(%x) : (!llvm.ptr) -> ()
  llvm.cond_br %stop, ^done, ^loop
^done:
  llvm.return
}

// An alloca of dynamic size is not moved.
// CHECK-LABEL: llvm.func internal @dynamic_size(
// CHECK-NEXT: llvm.br ^bb1(
// CHECK: ^bb1(%[[SIZE:.*]]: i64):
// CHECK-NEXT: llvm.alloca %[[SIZE]] x f32
llvm.func @dynamic_size(%stop: i1, %first: i64) {
  llvm.br ^loop(%first : i64)
^loop(%size: i64):
  %x = llvm.alloca %size x f32 : (i64) -> !llvm.ptr
  llvm.call @use(%x) : (!llvm.ptr) -> ()
  llvm.cond_br %stop, ^done, ^loop(%size : i64)
^done:
  llvm.return
}

// A declaration is not changed.
// CHECK-LABEL: llvm.func @declared(i64)
// CHECK-NOT: no_unwind
llvm.func @declared(i64)
