//===- HalideOps.td - The halide dialect -------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Halide_Dialect : Dialect {
  let name = "halide";
  let cppNamespace = "::attune::halide";
  let summary = "tiles computed by kernels of Halide";
}

def Halide_TileOp : Op<Halide_Dialect, "tile", [AttrSizedOperandSegments, DestinationStyleOpInterface,
                                                DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a tile computed by a kernel of Halide";
  let description = [{
    Computes one tile of a kernel by the function that `kernel` names, which Halide compiles. `description` defines the
    values of the destinations, in the language of `compiler/Target/Halide/README.md`. The scalars, inputs and outputs
    that the description declares are the operands `scalars`, `inputs` and `destinations`, each in the same order. On
    tensors the operation has one result for each destination, the destination with these values. On buffers it writes
    the values to the destinations and has no results.

    - (C1) `strides` has an array of i64 for each input, then for each destination, with a stride in elements for each
      dimension. A dynamic stride (the smallest i64) is an argument of each call of the kernel.
    - (C2) The last stride of each array that is not empty is 1.
    - (C3) Inputs and destinations have a rank, and their elements are integers or floats.

    With `reads_destinations` the results depend on the values that the destinations have before the operation; without
    it, the operation only writes the destinations.

    ```mlir
    %y = halide.tile "halide_scale" with(%n) ins(%x : tensor<?x8xf32>) outs(%d : tensor<?x8xf32>)
        {description = "(kernel halide_scale …)", strides = [array<i64: 8, 1>, array<i64: 8, 1>]} -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins StrAttr:$kernel, Variadic<Index>:$scalars, Variadic<AnyShaped>:$inputs, Variadic<AnyShaped>:$destinations,
                       StrAttr:$description, ArrayAttr:$strides, UnitAttr:$reads_destinations);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $kernel (`with` `(` $scalars^ `)`)? (`ins` `(` $inputs^ `:` type($inputs) `)`)?
    `outs` `(` $destinations `:` type($destinations) `)` attr-dict
    (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getDestinationsMutable(); }
  }];
  let hasVerifier = 1;
}
