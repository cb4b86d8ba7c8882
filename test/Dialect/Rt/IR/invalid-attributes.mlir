// RUN: attune-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expects 'rt.role' to be #rt.role<...>, but got "host"}}
func.func private @text(%host: !llvm.ptr {rt.role = "host"})

// -----

// expected-error @below {{expects argument 0 with role host to be a pointer (host), memref<?xi8> (weights, workspace) or index (workers), but got 'index'}}
func.func private @host(%host: index {rt.role = #rt.role<host>})

// -----

// expected-error @below {{expects argument 0 with role weights to be a pointer (host), memref<?xi8> (weights, workspace) or index (workers), but got 'memref<8xi8>'}}
func.func private @weights(%weights: memref<8xi8> {rt.role = #rt.role<weights>})

// -----

// expected-error @below {{expects argument 0 with role workspace to be a pointer (host), memref<?xi8> (weights, workspace) or index (workers), but got 'memref<?xf32>'}}
func.func private @workspace(%workspace: memref<?xf32> {rt.role = #rt.role<workspace>})

// -----

// expected-error @below {{expects argument 0 with role workers to be a pointer (host), memref<?xi8> (weights, workspace) or index (workers), but got 'i32'}}
func.func private @workers(%workers: i32 {rt.role = #rt.role<workers>})

// -----

// expected-error @below {{expects one argument with role workers, but got another}}
func.func private @twice(%a: index {rt.role = #rt.role<workers>}, %b: index {rt.role = #rt.role<workers>})

// -----

// expected-error @below {{expects 'rt.role' or 'rt.limit' on arguments of functions, but got 'rt.launch'}}
func.func private @launch_of_an_argument(%a: index {rt.launch = #rt.launch<grid = true>})

// -----

// expected-error @below {{expects 'rt.limit' to be an i64 that is not negative, but got -1}}
func.func private @negative_limit(%offsets: memref<?xi64> {rt.limit = -1 : i64})

// -----

// expected-error @below {{expects the argument with 'rt.limit' to be a memref of i64 with one dimension, but got 'memref<?xf32>'}}
func.func private @limit_of_floats(%a: memref<?xf32> {rt.limit = 0 : i64})

// -----

// expected-error @below {{expects 'rt.workspace' on an entry}}
func.func private @no_entry() attributes {rt.workspace = #xfmr.formula<[], affine_map<() -> (8)>>}

// -----

// expected-error @below {{expects 'rt.workspace' to be a #xfmr.formula, but got "64*workers"}}
func.func @workspace_as_text() attributes {xfmr.entry = #xfmr.entry<"forward">, rt.workspace = "64*workers"} {
  return
}

// -----

// expected-error @below {{expects 'rt.kernel_work' on an entry}}
func.func private @work_of_no_entry() attributes {rt.kernel_work = []}

// -----

// expected-error @below {{expects 'rt.kernel_work' to be an array of #rt.kernel_work<...>, but got ["a"]}}
func.func @work_as_text() attributes {xfmr.entry = #xfmr.entry<"forward">, rt.kernel_work = ["a"]} {
  return
}

// -----

func.func @negative_calls() attributes {xfmr.entry = #xfmr.entry<"forward">, rt.kernel_work = [
    // expected-error @below {{expects 'calls' not to be negative, but got -1}}
    #rt.kernel_work<"a", calls = -1, flops = <[], affine_map<() -> (0)>>, weight_bytes = <[], affine_map<() -> (0)>>, tensor_bytes = <[], affine_map<() -> (0)>>>]} {
  return
}

// -----

func.func @work_of_an_argument() attributes {xfmr.entry = #xfmr.entry<"forward">, rt.kernel_work = [
    // expected-error @below {{expects formulas of dims, but got #xfmr.formula<[#xfmr.argument<0>], affine_map<()[s0] -> (s0)>>}}
    #rt.kernel_work<"a", calls = 1, flops = <[#xfmr.argument<0>], affine_map<()[s0] -> (s0)>>, weight_bytes = <[], affine_map<() -> (0)>>, tensor_bytes = <[], affine_map<() -> (0)>>>]} {
  return
}

// -----

func.func @launch_of_a_call() {
  // expected-error @below {{expects 'rt.launch' on an scf.forall}}
  func.call @launch_of_a_call() {rt.launch = #rt.launch<grid = true>} : () -> ()
  return
}

// -----

func.func @launch_as_number(%n: index) {
  // expected-error @below {{expects 'rt.launch' to be #rt.launch<...>, but got 90}}
  scf.forall (%i) in (%n) {
  } {rt.launch = 90}
  return
}

// -----

func.func @threads(%n: index) {
  scf.forall (%i) in (%n) {
  // expected-error @below {{expects 'threads' to be a multiple of 32, but got 48}}
  } {rt.launch = #rt.launch<threads = 48>}
  return
}

// -----

func.func @negative_bytes(%n: index) {
  scf.forall (%i) in (%n) {
  // expected-error @below {{expects 'shared_bytes', 'arch' and 'limit' not to be negative, but got -1, 0 and 0}}
  } {rt.launch = #rt.launch<shared_bytes = -1>}
  return
}

// -----

func.func @limit_without_offsets(%offsets: memref<?xi64> {rt.limit = 1 : i64}, %n: index) {
  // expected-error @below {{expects an argument of the function with 'rt.limit' 0, as this loop has it}}
  scf.forall (%i) in (%n) {
  } {rt.launch = #rt.launch<limit = 0>}
  return
}

// -----

func.func @limit_without_rows(%offsets: memref<?xi64> {rt.limit = 0 : i64}) {
  // expected-error @below {{expects a loop with 'limit' to have at least one dimension}}
  scf.forall () in () {
  } {rt.launch = #rt.launch<limit = 0>}
  return
}

// -----

// expected-error @below {{expects 'rt.device_function' on a function of a gpu.module}}
func.func private @on_the_host() attributes {rt.device_function = #rt.device_function<"loops", shared_bytes = 0>}

// -----

gpu.module @device {
  // expected-error @below {{expects 'rt.device_function' to be #rt.device_function<...>, but got "loops"}}
  llvm.func @kernel() attributes {rt.device_function = "loops"}
}

// -----

gpu.module @device {
  // expected-error @below {{expects 'shared_bytes', 'arch' and 'tensor_maps' not to be negative, but got 0, -90 and 0}}
  llvm.func @kernel() attributes {rt.device_function = #rt.device_function<"loops", shared_bytes = 0, arch = -90>}
}
