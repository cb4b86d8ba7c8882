func.func @forward(%x: tensor<?x48xf32> {xfmr.input = #xfmr.input<"x", [batch, 48]>})
    -> (tensor<?x48xf32> {xfmr.output = #xfmr.output<"y", [batch, 48]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  %y = math.exp %x : tensor<?x48xf32>
  return %y : tensor<?x48xf32>
}
