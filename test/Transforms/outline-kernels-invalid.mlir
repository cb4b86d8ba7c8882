// RUN: attune-opt %s -split-input-file -verify-diagnostics --attune-outline-kernels

// expected-error @below {{result 0 is not computed by a kernel of this function}}
func.func private @argument(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  return %x : tensor<?x8xf32>
}

// -----

// Two results cannot use the same buffer.
// expected-error @below {{result 1 is not computed by a kernel of this function}}
func.func private @twice(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %e = tensor.empty() : tensor<4x8xf32>
  %y = scf.forall (%i) in (4) shared_outs(%o = %e) -> (tensor<4x8xf32>) {
    %row = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %row into %o[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x8xf32>
    }
  }
  return %y, %y : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// expected-error @below {{a result's size does not follow from the arguments}}
func.func private @size_from_memory(%x: tensor<?xi64>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %count = tensor.extract %x[%c0] : tensor<?xi64>
  %n = arith.index_cast %count : i64 to index
  %e = tensor.empty(%n) : tensor<?xf32>
  %y = scf.forall (%i) in (%n) shared_outs(%o = %e) -> (tensor<?xf32>) {
    %one = arith.constant dense<1.0> : tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %one into %o[%i] [1] [1] : tensor<1xf32> into tensor<?xf32>
    }
  }
  return %y : tensor<?xf32>
}
func.func @caller(%x: tensor<?xi64>) -> tensor<?xf32> {
  %y = call @size_from_memory(%x) : (tensor<?xi64>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// expected-error @below {{result 0 is not computed by a kernel of this function}}
func.func private @again(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = call @again(%x) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// The first result is an update of an argument, which needs no destination.
// expected-error @below {{result 1 is not computed by a kernel of this function}}
func.func private @after_update(%x: tensor<4x8xf32>, %cache: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %y = scf.forall (%i) in (4) shared_outs(%o = %cache) -> (tensor<4x8xf32>) {
    %row = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %row into %o[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x8xf32>
    }
  }
  return %y, %x : tensor<4x8xf32>, tensor<4x8xf32>
}
