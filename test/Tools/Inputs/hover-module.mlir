module {
  func.func private @encoder_layer(%x: tensor<?x8xf32>, %w: tensor<8xf32> {xfmr.weight}, %b: tensor<8xf32> {xfmr.weight}) -> tensor<?x8xf32> {
    %0 = xfmr.layer_norm %x, %w, %b {epsilon = 1.0e-12 : f64} : tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32> loc("encoder_layer.attention.norm")
    return %0 : tensor<?x8xf32>
  }
  func.func @forward(%x: tensor<?x8xf32> {xfmr.input = #xfmr.input<"x", [batch, 8]>}, %w: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<?x8xf32> {xfmr.output = #xfmr.output<"y", [batch, 8]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
    %0 = call @encoder_layer(%x, %w, %b) : (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<?x8xf32> loc("encoder.layer.0")
    %1 = call @encoder_layer(%0, %w, %b) : (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<?x8xf32> loc("encoder.layer.1")
    return %1 : tensor<?x8xf32>
  }
}
