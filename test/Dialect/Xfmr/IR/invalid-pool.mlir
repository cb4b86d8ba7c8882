// RUN: attune-opt --split-input-file --verify-diagnostics %s

func.func @pool_c2(%x: tensor<?x8xf32>, %off: tensor<?xi64>) {
  // expected-error @below {{expects no 'skip' of the kind 'first'}}
  %y = xfmr.pool <first> %x, %off skip(%off) : tensor<?x8xf32>
  return
}

// -----

func.func @pool_c1(%x: tensor<?x8xf32>, %off: tensor<?xi64>) {
  // expected-error @below {{expects 'positions' and 'length' together}}
  %y = "xfmr.pool"(%x, %off, %off) {kind = #xfmr.pool_kind<first>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}
    : (tensor<?x8xf32>, tensor<?xi64>, tensor<?xi64>) -> tensor<?x8xf32>
  return
}
