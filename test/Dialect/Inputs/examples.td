// Two operations that are documented badly, for examples.test: one has no example, that of the other has another operation.
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
