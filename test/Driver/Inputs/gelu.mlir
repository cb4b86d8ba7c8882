// A model of one operation.
func.func @forward(%x: tensor<?x48xf32> {xfmr.input = #xfmr.input<"x", [tokens, 48]>})
    -> (tensor<?x48xf32> {xfmr.output = #xfmr.output<"y", [tokens, 48]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  %y = xfmr.activation <gelu> %x : tensor<?x48xf32>
  return %y : tensor<?x48xf32>
}
