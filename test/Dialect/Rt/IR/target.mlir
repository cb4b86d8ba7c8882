// RUN: attune-opt %s -split-input-file | attune-opt -split-input-file | FileCheck %s

// A schedule prints the numbers that differ from the defaults.
// CHECK: module attributes {
// CHECK-SAME: rt.schedule = #rt.schedule<register_rows = 6, panel_width = 16, bf16_type = bf16, even_low_precision_tiles = false, attention_precision = f16>
// CHECK-SAME: rt.target = #rt.target<"cpu", {features = ["x86"], kernels = "mlir", precision = "f32", vector_bits = 512 : i64, vector_registers = 32 : i64}>
module attributes {
  rt.target = #rt.target<"cpu", {features = ["x86"], kernels = "mlir", precision = "f32", vector_bits = 512, vector_registers = 32}>,
  rt.schedule = #rt.schedule<panel_width = 16, register_rows = 6, query_rows = 8, bf16_type = bf16, even_low_precision_tiles = false,
    attention_precision = f16, max_features = 2048>} {
}

// -----

// Only the target verifies its properties.
// CHECK: module attributes {
// CHECK-SAME: rt.schedule = #rt.schedule<>
// CHECK-SAME: rt.target = #rt.target<"abacus", {beads = ["red", "blue"], precision = "bf16", rows = 10 : i64}>
module attributes {
  rt.target = #rt.target<"abacus", {beads = ["red", "blue"], precision = "bf16", rows = 10}>,
  rt.schedule = #rt.schedule<>} {
}
