// Calls, weights, loops and attributes around one math.exp.
module attributes {xfmr.model = #xfmr.model<family = "test", architecture = "Reduced", limits = {length = 40 : i64}>} {
  xfmr.weight @unused : tensor<48xf32> = #xfmr.tensor<"unused" : tensor<48xf32>>
  xfmr.weight @scale : tensor<48xf32> = #xfmr.tensor<"scale" : tensor<48xf32>>
  func.func private @external(tensor<48xf32>) -> tensor<48xf32>
  func.func private @layer(%x: tensor<48xf32>, %w: tensor<48xf32> {xfmr.weight}, %n: index) -> (tensor<48xf32>, index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %loop = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<48xf32>) {
      %b = arith.addf %a, %w : tensor<48xf32>
      %c = math.exp %b {marked} : tensor<48xf32>
      %d = arith.mulf %c, %w : tensor<48xf32>
      scf.yield %d : tensor<48xf32>
    }
    %e = call @external(%loop) : (tensor<48xf32>) -> tensor<48xf32>
    return %e, %n : tensor<48xf32>, index
  }
  func.func @forward(%x: tensor<48xf32> {xfmr.input = #xfmr.input<"x", [48]>}, %n: index) -> tensor<48xf32> attributes {xfmr.entry = #xfmr.entry<"forward">} {
    %w = xfmr.weight_ref @scale : tensor<48xf32>
    %y, %m = call @layer(%x, %w, %n) : (tensor<48xf32>, tensor<48xf32>, index) -> (tensor<48xf32>, index)
    %z, %k = call @layer(%y, %w, %m) : (tensor<48xf32>, tensor<48xf32>, index) -> (tensor<48xf32>, index)
    return %z : tensor<48xf32>
  }
}
