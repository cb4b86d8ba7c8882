//===- Passes.td - Passes on weights -----------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

include "mlir/Pass/PassBase.td"

def AssignWeightOffsets : Pass<"attune-assign-weight-offsets", "::mlir::ModuleOp"> {
  let summary = "assign every weight its offset in the weights file and read it from there";
  let description = [{
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
    func.func @forward(%x: …, %weights: memref<?xi8> {rt.role = #rt.role<weights>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
      %row = memref.view %weights[%c0][%c128] : memref<?xi8> to memref<?xi8>
      %y = call @layer(%x, %row) : …
    ```
    A row holds the weights of one call of a layer function. Rows come first in the file, in program order; the weights
    that entries read themselves follow. Rows begin at a multiple of 4096, tensors at a multiple of 64. A layer function
    is a private function whose `xfmr.weight` arguments are weights in every call; any other function keeps its tensor
    arguments. A weight that is needed at two offsets is stored twice, as two `xfmr.weight`; equal rows are stored once.
    Weights without readers are removed. The module gets `xfmr.weights_bytes`.

    Must run on tensors, after the sources of weights are final (`xfmr-hoist-weight-expressions`). A remaining
    expression, which has an operand that is no weight, is an error. **Numerics**: exact.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::rt::RtDialect"];
}
