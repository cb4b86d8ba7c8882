//===- Passes.td - Passes on weights -----------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

include "mlir/Pass/PassBase.td"

def AssignWeightOffsets : Pass<"attune-assign-weight-offsets", "::mlir::ModuleOp"> {
  let summary = "assign every weight an offset in the weights file and read the weights from there";
  let description = [{
    The runtime passes the data section of the weights file to every entry, a function that applications call. An
    `xfmr.weight_ref` in an entry is the value of a weight. A *layer function* is a private function, not recursive,
    that has arguments marked `xfmr.weight` and gets weights for them in every call, and that only entries and other
    layer functions call. A *row* holds the weights of one call of a layer function: the function gets the bytes of its
    row and reads the weights at constant offsets in them.

    Before:
    ```mlir
    xfmr.weight @a : tensor<4x8xf32> = #xfmr.tensor<"a" : tensor<4x8xf32>>
    func.func private @layer(%x: tensor<?x8xf32>, %w: tensor<4x8xf32> {xfmr.weight}) -> tensor<?x4xf32>
    func.func @forward(%x: …) attributes {xfmr.entry = #xfmr.entry<"forward">} {
      %w = xfmr.weight_ref @a : tensor<4x8xf32>
      %y = call @layer(%x, %w) : …
    ```
    After:
    ```mlir
    xfmr.weight @a : … at 0
    func.func private @layer(%x: tensor<?x8xf32>, %row: memref<?xi8> {rt.role = #rt.role<weights>}) -> tensor<?x4xf32> {
      %v = memref.view %row[%c0][] : memref<?xi8> to memref<4x8xf32>
      %w = bufferization.to_tensor %v restrict : memref<4x8xf32> to tensor<4x8xf32>
    func.func @forward(%x: …, %weights: memref<?xi8> {rt.role = #rt.role<weights>})
        attributes {xfmr.entry = #xfmr.entry<"forward">} {
      %row = memref.view %weights[%c0][%c128] : memref<?xi8> to memref<?xi8>
      %y = call @layer(%x, %row) : …
    ```
    The offset of a weight (`at`) is in bytes from the beginning of the data section. Here the row begins at byte 0 and
    has 128 bytes. Rows come first in the file, in the order of the calls in entries; the weights that entries read
    themselves follow. The row of a call in an entry begins at a multiple of 4096 bytes, a page, so that the system can
    load and drop the weights of one layer separately. The row of a call in a layer function is a part of that
    function's row. Tensors begin at a multiple of 64 bytes, a cache line. A weight that is needed at two offsets is
    stored twice, as two `xfmr.weight`. Equal rows are stored once, and a row has no bytes of its own if an earlier row
    contains all of its weights at the same offsets in the row. `xfmr.weight` operations that nothing reads are erased.
    The module gets `xfmr.weights_bytes`, the size of the data section in bytes.

    The pass runs on tensors, after `xfmr-hoist-weight-expressions`. It fails on an operation that computes a weight
    from others, such as `xfmr.weight_pack`, and on an `xfmr.weight_ref` outside of an entry. Functions other than layer
    functions keep their tensor arguments. **Numerics**: exact.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::rt::RtDialect"];
}
