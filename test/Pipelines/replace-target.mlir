// RUN: attune-opt %s --attune-replace-target --split-input-file | FileCheck %s
// RUN: attune-opt %s --attune-replace-target="cpu=sierraforest precision=int8" --split-input-file | FileCheck %s --check-prefix=INT8
// RUN: not attune-opt %s --attune-replace-target=precision=f64 --split-input-file 2>&1 | FileCheck %s --check-prefix=REFUSES

// The options replace the target and the schedule that belongs to it; other attributes of the module stay.
// CHECK: module @fires attributes
// CHECK-SAME: rt.schedule = #rt.schedule<>, rt.target = #rt.target<"cpu", {cpu = "x86-64-v4", {{.*}}precision = "f32", {{.*}}vector_bits = 512 : i64, vector_registers = 32 : i64}>
// CHECK-SAME: test.kept
// INT8: module @fires attributes
// INT8-SAME: rt.schedule = #rt.schedule<register_rows = 6, {{.*}}int8_type = i8,
// INT8-SAME: rt.target = #rt.target<"cpu", {cpu = "sierraforest", features = ["avxvnni", "x86"], {{.*}}precision = "int8", {{.*}}vector_bits = 256 : i64, vector_registers = 16 : i64}>
// REFUSES: error: expects a precision of f32, bf16, f16 or int8, but got 'f64'
module @fires attributes {rt.target = #rt.target<"cpu", {features = [], kernels = "mlir", precision = "f32", vector_bits = 128, vector_registers = 16}>, test.kept} {
}

// -----

// A module without a target gets one, so that the next phases compile for it.
// CHECK: module @had_none attributes
// CHECK-SAME: rt.schedule = #rt.schedule<>, rt.target = #rt.target<"cpu", {cpu = "x86-64-v4"
// INT8: module @had_none attributes
// INT8-SAME: rt.target = #rt.target<"cpu", {cpu = "sierraforest"
module @had_none {
}
