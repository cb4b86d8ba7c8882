def Wrong : Pass<"attune-wrong"> {
  let summary = "";
}

def Xfmr_WrongOp : Xfmr_Op<"wrong"> {
  let description = [{ }];
}
