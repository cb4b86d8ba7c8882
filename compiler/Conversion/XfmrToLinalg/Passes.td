//===- Passes.td - Conversion of xfmr to linalg ----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_CONVERSION_XFMRTOLINALG_PASSES_TD
#define ATTUNE_CONVERSION_XFMRTOLINALG_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertXfmrToLinalg : Pass<"convert-xfmr-to-linalg", "::mlir::func::FuncOp"> {
  let summary = "lower xfmr ops to linalg on tensors and choose weight layouts";
  let description = [{
    Projections become a contraction over packed weight panels and one elementwise epilogue, norms become row reductions, head splits become
    views. The ops of one kernel carry the same `attune.group` number, which tiling fuses by. `xfmr.attention` stays: tiling needs it whole.

    ```mlir
    %y = xfmr.linear %x, %w bias(%b) : tensor<?x48xf32>, tensor<112x48xf32>, bias tensor<112xf32>
    // becomes
    %p = xfmr.weight_pack %w, 32 : tensor<112x48xf32>
    %c = linalg.generic {indexing_maps = [(m, n, k) -> (m, k), (m, n, k) -> (n floordiv 32, k, n mod 32), (m, n, k) -> (m, n)]} …
    %y = linalg.generic … // + bias
    ```

    Expects composites decomposed and `multi_head_attention`, `ffn` and `dropout` gone. Numerics: exact (each op's N labels hold).
  }];
  let options = [Option<"panelWidth", "panel-width", "int64_t", "32", "columns of a weight panel">];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::scf::SCFDialect", "::mlir::affine::AffineDialect"];
}

#endif // ATTUNE_CONVERSION_XFMRTOLINALG_PASSES_TD
