// RUN: attune-opt %s -split-input-file | attune-opt -split-input-file | FileCheck %s

// CHECK: module attributes {
// CHECK-SAME: rt.schedule = #rt.schedule<register_rows = 12, query_rows = 8, panel_width = 32,
// CHECK-SAME: dot_unit = "avx512", bf16_type = "f32",
// CHECK-SAME: rounds_bf16 = false, max_features = 2048>
// CHECK-SAME: rt.target = #rt.target<"cpu", {features = ["x86"], kernels = "mlir", precision = "f32", vector_bits = 512 : i64, vector_registers = 32 : i64}>
module attributes {
  rt.target = #rt.target<"cpu", {features = ["x86"], kernels = "mlir", precision = "f32", vector_bits = 512, vector_registers = 32}>,
  rt.schedule = #rt.schedule<register_rows = 12, query_rows = 8, panel_width = 32, key_panel_width = 32, value_vectors = 3,
    weight_rows = 8, attention_rows = 64, block_bytes = 1572864, max_block_rows = 128, row_block = 8, dot_unit = "avx512",
    bf16_type = "f32", bf16_multiple = 2, bf16_group = 2, int8_type = "i16", int8_multiple = 2, int8_group = 2, code_rows = 8,
    code_group = 1, stream_panels = 4, prefetch_streams = 4, prefetch_ahead = 16384, few_rows = 0, few_columns = 0, wide_rows = 0,
    wide_columns = 0, wide_blocks = 0, rounds_bf16 = false, max_features = 2048>} {
}

// -----

// CHECK: module attributes {
// CHECK-SAME: rt.device_schedule = #rt.device_schedule<code_query_rows = 64, largest_code_head = 128, threads = 128, shared_bytes = 73728, specific_arch = 0, specific_columns = 0, specific_stages = 0, specific_bytes = 0, specific_cache_bytes = 0>
// CHECK-SAME: rt.target = #rt.target<"cuda", {archs = ["sm_80"], precision = "bf16"}>
module attributes {
  rt.target = #rt.target<"cuda", {archs = ["sm_80"], precision = "bf16"}>,
  rt.device_schedule = #rt.device_schedule<code_query_rows = 64, largest_code_head = 128, threads = 128, shared_bytes = 73728,
    specific_arch = 0, specific_columns = 0, specific_stages = 0, specific_bytes = 0, specific_cache_bytes = 0>} {
}
