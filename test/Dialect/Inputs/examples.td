// Two badly documented operations for examples.test: the description of `xfmr.bare` has no example, and the example of
// `xfmr.wrong` shows another operation.
def Xfmr_BareOp : Xfmr_Op<"bare"> {
  let description = [{ No example. }];
}

def Xfmr_WrongOp : Xfmr_Op<"wrong"> {
  let description = [{
    ```mlir
    %y = xfmr.layer_norm %x, %g, %b {epsilon = 1.0e-12 : f64}
    ```
  }];
}
