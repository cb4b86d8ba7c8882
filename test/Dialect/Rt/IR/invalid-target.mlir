// RUN: attune-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expects 'precision' of target "cuda" to be f32, bf16, f16 or int8}}
module attributes {rt.target = #rt.target<"cuda", {archs = ["sm_80"], precision = "f64"}>} {}

// -----

// expected-error @below {{expects 'precision' of target "cuda" to be f32, bf16, f16 or int8}}
module attributes {rt.target = #rt.target<"cuda", {archs = ["sm_80"]}>} {}

// -----

// expected-error @below {{expects 'archs' to be a string, a positive i64 or a list of strings, but got [80]}}
module attributes {rt.target = #rt.target<"cuda", {archs = [80], precision = "f32"}>} {}

// -----

// expected-error @below {{expects 'vector_bits' to be a string, a positive i64 or a list of strings, but got 0 : i64}}
module attributes {rt.target = #rt.target<"cpu", {precision = "f32", vector_bits = 0}>} {}

// -----

// expected-error @below {{expects 'rt.target' to be #rt.target<...>, but got "cpu"}}
module attributes {rt.target = "cpu"} {}

// -----

// expected-error @below {{expects 'rt.target' or 'rt.schedule', but got 'rt.machine'}}
module attributes {rt.machine = "cpu"} {}

// -----

// expected-error @below {{expects 'rt.target' on a module}}
func.func private @function() attributes {rt.target = #rt.target<"cuda", {archs = ["sm_80"], precision = "f32"}>}

// -----

// expected-error @below {{expects 'panel_width' to be a multiple of 16, at most 1024, but got 20}}
module attributes {rt.schedule = #rt.schedule<panel_width = 20>} {}

// -----

// expected-error @below {{expects 'query_rows' to be a power of two, at most 128, but got 6}}
module attributes {rt.schedule = #rt.schedule<query_rows = 6>} {}

// -----

// expected-error @below {{expects 'register_rows' to be from 1 to 128, but got 0}}
module attributes {rt.schedule = #rt.schedule<register_rows = 0>} {}

// -----

// expected-error @below {{expects 'few_rows' to be from 0 to 2147483647, but got -1}}
module attributes {rt.schedule = #rt.schedule<few_rows = -1>} {}

// -----

// Code is unrolled for each row of a register tile.
// expected-error @below {{expects 'register_rows' to be from 1 to 128, but got 9223372036854775807}}
module attributes {rt.schedule = #rt.schedule<register_rows = 9223372036854775807>} {}

// -----

// expected-error @below {{expects 'row_block' to be from 1 to 2147483647, but got 9223372036854775807}}
module attributes {rt.schedule = #rt.schedule<row_block = 9223372036854775807>} {}

// -----

// expected-error @below {{expects 'attention_rows' to be from 64 to 2147483647, but got 63}}
module attributes {rt.schedule = #rt.schedule<attention_rows = 63>} {}

// -----

// expected-error @below {{expects 'panel_width' to be a multiple of 16, at most 1024, but got 1040}}
module attributes {rt.schedule = #rt.schedule<panel_width = 1040>} {}

// -----

// expected-error @below {{expects 'few_columns' to be a multiple of 16 that divides 'panel_width', but got 24 and 32}}
module attributes {rt.schedule = #rt.schedule<few_rows = 16, few_columns = 24>} {}

// -----

// expected-error @below {{expects 'few_columns' to be a multiple of 16 that divides 'panel_width', but got 48 and 64}}
module attributes {rt.schedule = #rt.schedule<panel_width = 64, few_rows = 16, few_columns = 48>} {}

// -----

// expected-error @below {{expects 'int8_type' to be i16 or i8, but got bf16}}
module attributes {rt.schedule = #rt.schedule<int8_type = bf16>} {}

// -----

// expected-error @below {{a schedule has no field 'rows'}}
module attributes {rt.schedule = #rt.schedule<rows = 8>} {}

// -----

// expected-error @below {{unexpected value 'f64'}}
module attributes {rt.schedule = #rt.schedule<bf16_type = f64>} {}

// -----

// expected-error @below {{expects 'wide_rows' to be positive and 'wide_columns' to be a positive multiple of 'panel_width', but got 0, 0 and 32}}
module attributes {rt.schedule = #rt.schedule<wide_blocks = 4>} {}

// -----

// expected-error @below {{expects 'wide_rows' to be positive and 'wide_columns' to be a positive multiple of 'panel_width', but got 64, 48 and 32}}
module attributes {rt.schedule = #rt.schedule<wide_rows = 64, wide_columns = 48, wide_blocks = 4>} {}
