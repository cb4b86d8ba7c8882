//===- Passes.td - Passes on xfmr operations ---------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Phase `dialect`, in alphabetical order
//===----------------------------------------------------------------------===//

def DecomposeComposites : Pass<"xfmr-decompose-composites", "::mlir::func::FuncOp"> {
  let summary = "rewrite multi_head_attention and ffn as projections and attention";
  let description = [{
    ```mlir
    %y = xfmr.ffn <gelu> %x, %up, %down bias(%b0, %b1) residual(%x) : …
    // becomes
    %0 = xfmr.linear %x, %up bias(%b0) {activation = #xfmr.activation<gelu>} : …
    %y = xfmr.linear %0, %down bias(%b1) residual(%x) : …
    ```

    `multi_head_attention` becomes a linear and a `split_heads` for each of query, key and value, then `attention`,
    `merge_heads` and the output projection if there is one. Run it first: the other passes of the phase match
    projections.

    Numerics: exact; a composite is defined as what it decomposes to.
  }];
}

def DecomposeExperts : Pass<"xfmr-decompose-experts", "::mlir::func::FuncOp"> {
  let summary = "rewrite mixtures of experts as a loop over the experts that tokens choose";
  let description = [{
    ```mlir
    %y = xfmr.experts <silu> %x choices(%c, %s : …) up(%up : …) down(%down : …) gate(%gate : …) : …
    // becomes
    %offsets, %tokens, %shares = xfmr.group_by_expert %c, %s, 8 : …
    %rows = xfmr.gather_tokens %x, %tokens : …
    %y = scf.for %e = %c0 to %c8 step %c1 iter_args(%sum = %zeros) -> (tensor<?x48xf32>) {
      …
      scf.if %some {
        %in = tensor.extract_slice %rows[%begin, 0] [%count, 48] [1, 1] : …
        %u = xfmr.weight_select %up[%e] : …
        %f = xfmr.ffn <silu> %in, %u, … : …
        %next = xfmr.add_rows %f, … to %sum at … : …
    ```

    Run it before `xfmr-decompose-composites`. The host decides which experts run, so it must be able to read what tokens
    choose: with `known-counts`, `xfmr.experts` is an error.

    Numerics: exact; the operation is defined as this sum.
  }];
  let options = [Option<"knownCounts", "known-counts", "bool", "false",
                        "the host cannot read tensors, and knows upper bounds of sizes only">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FuseEpilogues : Pass<"xfmr-fuse-epilogues", "::mlir::func::FuncOp"> {
  let summary = "fold activations and residual additions into the projections that feed them";
  let description = [{
    ```mlir
    %0 = xfmr.linear %x, %w bias(%b) : …
    %1 = xfmr.layer_norm %0, %g, %c residual(%x : …) {…} : …
    // becomes
    %0 = xfmr.linear %x, %w bias(%b) residual(%x) : …
    %1 = xfmr.layer_norm %0, %g, %c {…} : …
    ```

    - An `activation` of a linear without activation and residual becomes the linear's activation.
    - An `arith.addf` of a linear without residual disappears: its other operand becomes the linear's residual. If both
      operands are linears, the later one takes the other as its residual.
    - A `layer_norm` whose input or residual is such a linear leaves the addition to the linear, where the sum is still
      in registers.
    - The last addition before a `layer_norm` becomes the norm's residual if no linear can take it.

    The linear must have no other use and must be in the same block as its user; the fused op takes the user's position.
    Run `xfmr-decompose-composites` and `canonicalize` first (a dropout between linear and user hides them from each
    other).

    Numerics: exact; the same additions in the same order. The payload of a NaN may come from the other operand of an
    addition.
  }];
}

def FuseProjections : Pass<"xfmr-fuse-projections", "::mlir::func::FuncOp"> {
  let summary = "join projections of the same input to heads into one";
  let description = [{
    ```mlir
    %0 = xfmr.linear %x, %wq bias(%bq) : …
    %q = xfmr.split_heads %0, 4 : …
    %1 = xfmr.linear %x, %wk bias(%bk) : …
    %k = xfmr.split_heads %1, 4 : …
    // becomes
    %w = xfmr.weight_concat 0, %wq, %wk : …
    %b = xfmr.weight_concat 0, %bq, %bk : …
    %0 = xfmr.linear %x, %w bias(%b) : …
    %1 = tensor.extract_slice %0[0, 0] [%t, 48] [1, 1] : …
    %q = xfmr.split_heads %1, 4 : …
    %2 = tensor.extract_slice %0[0, 48] [%t, 48] [1, 1] : …
    %k = xfmr.split_heads %2, 4 : …
    ```

    The joined projection reads the input once and computes fewer, longer rows. The pass joins linears of one block
    without residual whose matrices and biases are weights (arguments marked `xfmr.weight`, `weight_ref`s, expressions
    over these) and whose results only feed `split_heads`, since there a slice of columns is a strided view and not a
    copy. It skips linears, with a remark, if their activations, their element types or the presence of biases differ.
    Run `xfmr-hoist-weight-expressions` afterwards.

    Numerics: exact; each column is accumulated as before.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def HoistWeightExpressions : Pass<"xfmr-hoist-weight-expressions", "::mlir::ModuleOp"> {
  let summary = "move weight expressions to callers and into the sources of weights";
  let description = [{
    ```mlir
    xfmr.weight @q : tensor<8x8xf32> = #xfmr.tensor<"q" : tensor<8x8xf32>>
    xfmr.weight @k : tensor<8x8xf32> = #xfmr.tensor<"k" : tensor<8x8xf32>>
    func.func private @layer(%x: tensor<?x8xf32>, %wq: tensor<8x8xf32> {xfmr.weight}, %wk: tensor<8x8xf32> {xfmr.weight}) … {
      %w = xfmr.weight_concat 0, %wq, %wk : tensor<8x8xf32>, tensor<8x8xf32>
    // becomes
    xfmr.weight @q.concat : tensor<16x8xf32> = #xfmr.concat<0, [#xfmr.tensor<"q" : …>, #xfmr.tensor<"k" : …>]>
    func.func private @layer(%x: tensor<?x8xf32>, %w: tensor<16x8xf32> {xfmr.weight}) … {
    ```

    The pass works on private functions that are only used by `func.call`. A `weight_concat`, `weight_slice`,
    `weight_pack` or another expression (or a tree of them) of arguments marked `xfmr.weight` becomes a new argument,
    which every caller computes; callees are processed before callers. An expression over `weight_ref`s becomes a
    `weight_ref` of a weight with the composed source; weights of equal source are merged. Arguments, references and
    weights without a remaining use are removed. Public and recursive functions, and functions with other uses than
    calls, keep their arguments, with a remark.

    Runs at the end of every phase that creates weight expressions: `dialect` joins projections and splits deep ones,
    `linalg` packs panels. Takes time linear in the number of operations.

    Numerics: exact.
  }];
}

def LowerPrecision : Pass<"xfmr-lower-precision", "::mlir::func::FuncOp"> {
  let summary = "select the operand precision of projections";
  let description = [{
    ```mlir
    %y = xfmr.linear %x, %w bias(%b) : tensor<?x48xf32>, tensor<112x48xf32>, bias tensor<112xf32>
    // becomes
    %y = xfmr.linear %x, %w bias(%b) {precision = #xfmr.precision<bf16>} : tensor<?x48xf32>, tensor<112x48xf32>, bias tensor<112xf32>
    ```

    Every f32 linear without a precision of its own gets `precision`, and with `weights-format` its `format`, except those
    whose results `choose_experts` reads: rounding could change which experts run. With int8, a linear of more than 65536 input
    features stays f32, with a remark, since its 32-bit sums could overflow. A `weights-format` needs int8. Attention, norms, embeddings and
    elementwise ops are not changed. Runs after `xfmr-decompose-composites`.

    Numerics: rounds the inputs of the products as `xfmr.linear` says under N2, N3 and N4.
  }];
  let options = [Option<"precision", "precision", "::mlir::xfmr::Precision", "::mlir::xfmr::Precision::BF16", "operand type of projections",
                        [{::llvm::cl::values(clEnumValN(::mlir::xfmr::Precision::F32, "f32", "f32, without rounding"),
                                             clEnumValN(::mlir::xfmr::Precision::BF16, "bf16", "bf16, summed in f32"),
                                             clEnumValN(::mlir::xfmr::Precision::F16, "f16", "f16, summed in f32"),
                                             clEnumValN(::mlir::xfmr::Precision::Int8, "int8",
                                                        "8 bits, with scales per row and column"))}]>,
                 Option<"weightsFormat", "weights-format", "std::string", "",
                        "format of quantized weights, such as int4:32; none by default">];
}

def SplitDeepProjections : Pass<"xfmr-split-deep-projections", "::mlir::func::FuncOp"> {
  let summary = "split projections of many input features into sums of several";
  let description = [{
    ```mlir
    %y = xfmr.linear %x, %w bias(%b) residual(%r)
        : tensor<?x3072xf32>, tensor<768x3072xf32>, bias tensor<768xf32>, residual tensor<?x768xf32>
    // becomes
    %x0 = tensor.extract_slice %x[0, 0] [%t, 1536] [1, 1] : …
    %w0 = xfmr.weight_slice %w, 0 to 1536 : …
    %0 = xfmr.linear %x0, %w0 bias(%b) residual(%r) : …
    %x1 = tensor.extract_slice %x[0, 1536] [%t, 1536] [1, 1] : …
    %w1 = xfmr.weight_slice %w, 1536 to 3072 : …
    %y = xfmr.linear %x1, %w1 residual(%0) : …
    ```

    A kernel reads the rows of a block once for each panel of weights, from a cache if they fit. So a linear with K >
    `max-features` becomes ceil(K / `max-features`) linears of nearly equal K, each but the last a multiple of 64. The
    split does not depend on the number of rows, so a row's bits do not depend on its neighbors. Linears of lower
    precision, linears with an activation or a multiplier, and linears whose matrix is not a weight are not changed.

    Run it after `xfmr-fuse-epilogues` and `xfmr-lower-precision`, and `xfmr-hoist-weight-expressions` afterwards.

    Numerics: a sum over k is the sum of one partial sum per part, in order; bias and residual are added to the first.
  }];
  let options = [Option<"maxFeatures", "max-features", "int64_t", "2048", "largest K of one linear; 0 disables the pass">];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}
