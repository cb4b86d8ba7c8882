// RUN: attune-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expects target "cpu" or "cuda", but got "tpu"}}
module attributes {rt.target = #rt.target<"tpu", {precision = "f32"}>} {}

// -----

// expected-error @below {{expects property 'vector_registers' of target "cpu"}}
module attributes {rt.target = #rt.target<"cpu", {features = [], kernels = "mlir", precision = "f32", vector_bits = 512}>} {}

// -----

// expected-error @below {{target "cuda" has no property "kernels"}}
module attributes {rt.target = #rt.target<"cuda", {archs = ["sm_80"], kernels = "mlir", precision = "f32"}>} {}

// -----

// expected-error @below {{expects 'precision' to be one of f32, bf16, f16, int8, but got "f64"}}
module attributes {rt.target = #rt.target<"cuda", {archs = ["sm_80"], precision = "f64"}>} {}

// -----

// expected-error @below {{expects 'archs' to be a list of strings, but got "sm_80"}}
module attributes {rt.target = #rt.target<"cuda", {archs = "sm_80", precision = "f32"}>} {}

// -----

// expected-error @below {{expects 'archs' to name a GPU}}
module attributes {rt.target = #rt.target<"cuda", {archs = [], precision = "f32"}>} {}

// -----

// expected-error @below {{expects 'vector_bits' to be a positive i64, but got 0 : i64}}
module attributes {rt.target = #rt.target<"cpu", {features = [], kernels = "mlir", precision = "f32", vector_bits = 0, vector_registers = 32}>} {}

// -----

// expected-error @below {{expects 'threads' to be a multiple of 32, but got 100}}
module attributes {rt.device_schedule = #rt.device_schedule<code_query_rows = 64, largest_code_head = 128, threads = 100, shared_bytes = 73728,
  specific_arch = 0, specific_columns = 0, specific_stages = 0, specific_bytes = 0, specific_cache_bytes = 0>} {}

// -----

// expected-error @below {{expects 'rt.target' to be #rt.target<...>, but got "cpu"}}
module attributes {rt.target = "cpu"} {}

// -----

// expected-error @below {{expects 'rt.target', 'rt.schedule' or 'rt.device_schedule', but got 'rt.machine'}}
module attributes {rt.machine = "cpu"} {}

// -----

// expected-error @below {{expects 'rt.target' on a module}}
func.func private @function() attributes {rt.target = #rt.target<"cuda", {archs = ["sm_80"], precision = "f32"}>}

// -----

// expected-error @below {{expects 'rt.target' beside 'rt.device_schedule'}}
module attributes {rt.device_schedule = #rt.device_schedule<code_query_rows = 64, largest_code_head = 128, threads = 128, shared_bytes = 73728,
  specific_arch = 0, specific_columns = 0, specific_stages = 0, specific_bytes = 0, specific_cache_bytes = 0>} {}

// -----

// expected-error @below {{expects 'panel_width' to be a multiple of 16, but got 20}}
module attributes {rt.schedule = #rt.schedule<register_rows = 12, query_rows = 8, panel_width = 20, key_panel_width = 32, value_vectors = 3,
    weight_rows = 8, attention_rows = 64, block_bytes = 1572864, max_block_rows = 128, row_block = 8, dot_unit = "avx512",
    bf16_type = "f32", bf16_multiple = 2, bf16_group = 2, int8_type = "i16", int8_multiple = 2, int8_group = 2, code_rows = 8,
    code_group = 1, stream_panels = 4, prefetch_streams = 4, prefetch_ahead = 16384, few_rows = 0, few_columns = 0, wide_rows = 0,
    wide_columns = 0, wide_blocks = 0, rounds_bf16 = false, max_features = 2048>} {}

// -----

// expected-error @below {{expects 'dot_unit' to be portable, avx2, avx512 or amx, but got "neon"}}
module attributes {rt.schedule = #rt.schedule<register_rows = 12, query_rows = 8, panel_width = 32, key_panel_width = 32, value_vectors = 3,
    weight_rows = 8, attention_rows = 64, block_bytes = 1572864, max_block_rows = 128, row_block = 8, dot_unit = "neon",
    bf16_type = "f32", bf16_multiple = 2, bf16_group = 2, int8_type = "i16", int8_multiple = 2, int8_group = 2, code_rows = 8,
    code_group = 1, stream_panels = 4, prefetch_streams = 4, prefetch_ahead = 16384, few_rows = 0, few_columns = 0, wide_rows = 0,
    wide_columns = 0, wide_blocks = 0, rounds_bf16 = false, max_features = 2048>} {}
