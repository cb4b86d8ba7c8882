//===- Passes.td - Passes on xfmr operations ---------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Phase `dialect`
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

    The composites are `xfmr.ffn`, a feed-forward network, and `xfmr.multi_head_attention`. An `ffn` becomes two
    projections (`xfmr.linear`). With a gate it becomes three: the projection by the gate matrix has the activation, and
    the projection by the up matrix has the result of that projection as `multiplier`, an operand that multiplies the
    result element by element. A `multi_head_attention` becomes a linear and a `split_heads` for each of query, key and
    value, then `attention`, `merge_heads` and, if it has output weights, one more linear. The numbers of heads go to
    the `split_heads`. All other attributes go to the `attention`. So do all operands except inputs, matrices and biases
    of matrices, that is offsets, lengths, masks and the other operands from which scores are computed.

    Leaves no composite. Run it after `xfmr-decompose-experts`, which creates `ffn`, and before the passes that match
    linears, such as `xfmr-fuse-projections`.

    Numerics: exact; a composite is defined by the operations that it becomes.
  }];
}

def DecomposeExperts : Pass<"xfmr-decompose-experts", "::mlir::func::FuncOp"> {
  let summary = "rewrite mixtures of experts as a loop over the experts, each on the tokens that choose it";
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

    Here a layer has 8 experts, feed-forward networks on tokens of 48 features. `%c` has the experts that each token
    chooses, `%s` the share of each: the factor of the expert's result in the sum of the token. `xfmr.group_by_expert`
    sorts the pairs of a token and a chosen expert by expert. Expert `%e` has the `%count` rows of `%rows` from
    `%begin`, element `%e` of `%offsets`, on; `%some` is true if `%count` is not 0. `xfmr.weight_select` takes the
    matrix of one expert from `%up`. Nothing is computed for an expert without rows, and the weights of this expert are
    not read. `xfmr.add_rows` multiplies each row by its share and adds it to the sum of its token. With `glu_limit`,
    three `xfmr.linear` and an `xfmr.clamped_glu` replace the `xfmr.ffn`.

    Leaves no `xfmr.experts`. Run it before `xfmr-decompose-composites`, which decomposes the `xfmr.ffn`.

    In this code the host decides which experts run, so it must read the choices of tokens. For a GPU, whose host cannot
    read tensors, set `known-counts`. For each expert, `xfmr.list_by_expert` then makes a list of as many elements as
    there are tokens: first the tokens that choose the expert, then -1. The loop runs every expert, also one that no
    token chooses, on the first `%count` tokens of its list. `%count` is the minimum of the expert's element of
    `%counts` and the number of all tokens; `attune-limit-rows` later replaces the minimum by the number of all tokens.
    `padded` tells `xfmr.add_rows` to skip rows whose token is -1.

    ```mlir
    %counts, %tokens, %shares = xfmr.list_by_expert %c, %s, 8 : …
    %y = scf.for %e = %c0 to %c8 step %c1 iter_args(%sum = %zeros) -> (tensor<?x48xf32>) {
      …
      %chosen = tensor.extract_slice %tokens[%e, 0] [1, %count] [1, 1] : …
      %in = xfmr.gather_tokens %x, %chosen : …
      %u = xfmr.weight_select %up[%e] : …
      %f = xfmr.ffn <silu> %in, %u, … : …
      %next = xfmr.add_rows %f, … to %sum at %chosen {padded} : …
    ```

    Numerics: exact; the operation is defined as this sum.
  }];
  let options = [Option<"knownCounts", "known-counts", "bool", "false",
                        "list the tokens of each expert, for a host that cannot read tensors, as for a GPU">];
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

    The epilogue of an `xfmr.linear`, a projection, is its bias, activation, multiplier and residual. Kernels compute it
    while the sums of the product are in registers.

    - An `xfmr.activation` of the result of a linear without activation, multiplier and residual becomes the linear's
      activation.
    - An `arith.addf` with the result of a linear without residual disappears: the other addend becomes the linear's
      residual.
    - A `layer_norm` or `rms_norm` computes the norm of its input plus its residual. If one of the two is the result of
      a linear without residual, the other becomes the linear's residual, and the norm no longer has a residual.
    - If an `arith.addf` that no linear can take computes the input `[tokens, features]` of a norm without residual, the
      norm replaces the addition: one addend becomes the norm's input, the other its residual.

    If both operands of an addition are linears without residual, the result of the earlier one becomes the residual of
    the later one. A linear is fused with an activation, an addition or a norm only if both are in one block and the
    linear has no other use. A remark names each linear that has several uses, one of them by an activation, an addition
    or a norm with a residual. Likewise, a norm takes an `arith.addf` only from its own block and only if the addition
    has no other use. The fused linear is at the position of the activation, addition or norm. Run
    `xfmr-decompose-composites` first, and `canonicalize`, which removes each `xfmr.dropout` between a linear and its
    user.

    Numerics: exact for products of every type, since the results of a linear are f32; the additions are the same, in the
    same order. If both operands of an addition are NaN, the pass may change which of them gives the result its payload.
  }];
}

def FuseProjections : Pass<"xfmr-fuse-projections", "::mlir::func::FuncOp"> {
  let summary = "join projections to heads that have the same input into one projection";
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

    Here queries and keys have 4 heads of 12 components each, for `%t` tokens. The joined projection reads the input
    once. A linear qualifies if all of these hold:

    - It has neither multiplier nor residual.
    - Its matrix has a static shape.
    - Its matrix and its bias, if any, are weights that are known at compile time: arguments marked `xfmr.weight`,
      results of `xfmr.weight_ref`, or expressions over these. A weight that `xfmr.weight_select` chooses at run time is
      not one of them.
    - Its result has users, and all of them are `split_heads`, which read a slice of columns as a strided view, without
      a copy.

    The pass joins all qualified linears of one block that have the same input. If two of them differ in activation,
    precision, format of weights, element types or the presence of a bias, none of them is joined, and a remark gives
    the reason.

    Run `xfmr-decompose-composites` before it and `xfmr-hoist-weight-expressions` after it, so that weights are joined
    at compile time.

    Numerics: exact on a CPU, where each column is accumulated as before. On a GPU, with the precision bf16 or f16, the
    larger number of columns can select another kernel, whose order of additions may differ (`xfmr.linear`, N2 and N5).
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def HoistWeightExpressions : Pass<"xfmr-hoist-weight-expressions", "::mlir::ModuleOp"> {
  let summary = "move weight expressions to callers and into the sources of weights";
  let description = [{
    ```mlir
    xfmr.weight @q : tensor<8x8xf32> = #xfmr.tensor<"q" : tensor<8x8xf32>>
    xfmr.weight @k : tensor<8x8xf32> = #xfmr.tensor<"k" : tensor<8x8xf32>>
    func.func private @layer(%x: tensor<?x8xf32>, %wq: tensor<8x8xf32> {xfmr.weight},
                             %wk: tensor<8x8xf32> {xfmr.weight}) … {
      %w = xfmr.weight_concat 0, %wq, %wk : tensor<8x8xf32>, tensor<8x8xf32>
    // becomes
    xfmr.weight @q.concat : tensor<16x8xf32> = #xfmr.concat<0, [#xfmr.tensor<"q" : …>, #xfmr.tensor<"k" : …>]>
    func.func private @layer(%x: tensor<?x8xf32>, %w: tensor<16x8xf32> {xfmr.weight}) … {
    ```

    The source of an `xfmr.weight` is an attribute that says how the compiler computes the weight from tensors of the
    model folder; `xfmr.weight_ref` returns the value of a weight. A weight expression is an operation on weights, such
    as `weight_concat`, `weight_slice` or `weight_pack`, or a tree of them. This pass moves expressions into sources.
    The compiler evaluates sources when it packs the weights file, so the compiled model reads the results of the
    expressions. In the example, every call of `@layer` passes references to `@q` and `@k`, and nothing else uses these.

    In a private function whose only users are `func.call`s, an expression over arguments marked `xfmr.weight` becomes a
    new argument, which every caller computes; marked arguments without a remaining use are removed. Callees are
    processed before callers. An expression over `weight_ref`s becomes a `weight_ref` of a weight with the composed
    source. If no weight of the module has this source, the pass declares one. References and weights without a
    remaining use are removed. Public functions, functions with users other than calls, and at least one function of
    each cycle of calls keep their arguments and the expressions over them. A remark names each such function that has
    an expression over its arguments.

    Runs in the phase `dialect`, after the passes that divide weights among ranks, join projections and split deep
    projections, and in the phase `linalg`, after the pass that rounds weights and packs panels: these passes create
    weight expressions. Takes time linear in the number of operations.

    Numerics: exact.
  }];
}

def LowerPrecision : Pass<"xfmr-lower-precision", "::mlir::func::FuncOp"> {
  let summary = "select the operand precision of projections";
  let description = [{
    ```mlir
    %y = xfmr.linear %x, %w bias(%b) : tensor<?x48xf32>, tensor<112x48xf32>, bias tensor<112xf32>
    // becomes, with precision=bf16
    %y = xfmr.linear %x, %w bias(%b) {precision = #xfmr.precision<bf16>}
        : tensor<?x48xf32>, tensor<112x48xf32>, bias tensor<112xf32>
    ```

    Sets the attribute `precision` of every `xfmr.linear` that has the precision f32, the default, and no `format`, to
    the value of the option `precision`. The types stay f32; the phase `linalg` rounds the operands. With the option
    `precision=f32` the pass changes nothing. With another value, some linears without a `format` keep the precision
    f32, with a remark:

    - a linear whose result is an operand of `choose_experts`, because rounding could change which experts run;
    - a linear on tensors whose element type is not f32;
    - with int8, a linear of more than 65536 input features, because its sums of products of bytes, up to 255 x 127
      each, could exceed 32 bits.

    Attention, norms, embeddings and elementwise operations are not changed. Run it after `xfmr-decompose-composites`
    and `xfmr-assign-weight-formats`.

    Numerics: rounds the operands of products, as the description of `xfmr.linear` says under N2 and N3.
  }];
  let options = [Option<"precision", "precision", "::mlir::xfmr::Precision", "::mlir::xfmr::Precision::BF16",
                        "type to which operands of projections are rounded",
                        [{::llvm::cl::values(clEnumValN(::mlir::xfmr::Precision::F32, "f32", "f32, without rounding"),
                                             clEnumValN(::mlir::xfmr::Precision::BF16, "bf16", "bf16, summed in f32"),
                                             clEnumValN(::mlir::xfmr::Precision::F16, "f16", "f16, summed in f32"),
                                             clEnumValN(::mlir::xfmr::Precision::Int8, "int8",
                                                        "8 bits, with a scale per token and one per output "
                                                        "feature"))}]>];
}

def AssignWeightFormats : Pass<"xfmr-assign-weight-formats", "::mlir::ModuleOp"> {
  let summary = "select the formats of the weights of projections and of the tables of embeddings";
  let description = [{
    ```mlir
    %y = xfmr.linear %x, %w : tensor<?x48xf32>, tensor<203x48xf32>
    // becomes, with precision=int8 and formats=int4:32,lm_head=int8:32, if `lm_head` matches this projection
    %y = xfmr.linear %x, %w {format = #xfmr.weight_format<"int8:32">, precision = #xfmr.precision<int8>}
        : tensor<?x48xf32>, tensor<203x48xf32>
    ```

    A format is the type in which weights are stored. For example, `int4:32` stands for integers of 4 bits with a scale
    for each 32 neighbors in a row of the matrix; `native` stands for no format. The option `formats` is a list in the
    syntax of `--weights-format` (docs/weight-formats.md): first a default format for all projections, which may be
    missing, then entries `PATTERN=FORMAT`. Of the entries that match a weight, the last one decides. A pattern is one
    of these:

    - `lm_head`, which matches each projection in an entry (a function that applications call) whose matrix has a row
      for each id of the entry's input `input_ids` or `decoder_input_ids`;
    - `embeddings`, which matches all f32 tables of `xfmr.embedding` that are made of tensors of the model folder;
    - a pattern of names, that is globs with dots between them, such as `layers.[0-3].mlp`. It matches a projection
      whose matrix is made of a tensor with a matching name. A name matches if some consecutive parts of it, which dots
      separate, match the globs one by one.

    Sets the `format` of projections (`xfmr.linear`) and embeddings. With a format of integers, the projection also gets
    the option `precision` as its `precision`. Some projections get no format: those that score experts, those whose
    tensors are not f32 and, with a format of integers and the precision int8, those of more than 65536 input features.
    For the first two kinds, the pass emits a remark if there is a default format; for the third kind it always does. A
    projection that already has a `format`, or a `precision` other than f32, stays as it is, and so does an embedding
    that already has a `format` or `tied`.

    Layers share functions, to which their weights are arguments. If the calls of a function differ in the formats of
    the matrices that they pass, each combination of formats but the first gets a clone of the function. So the number
    of functions depends on the number of combinations, not on the number of layers. In a function that is public or has
    users other than calls, arguments that are matrices have the default format; calls that pass other formats get
    clones. Takes time linear in the number of operations.

    Errors: a malformed list; the format `auto`, which `attune compile` replaces beforehand; a pattern that matches no
    weight; a matrix that is made of several tensors or weights with different formats; and a call that would need a
    clone of a recursive function. Run it after `xfmr-decompose-composites` and `xfmr-shard`, and before
    `xfmr-fuse-projections`, which joins projections of one format only.

    Numerics: rounds weights and operands of products, as `xfmr.linear` says under N4 to N6 and `xfmr.embedding` under
    N2.
  }];
  let options = [Option<"precision", "precision", "::mlir::xfmr::Precision", "::mlir::xfmr::Precision::F32",
                        "type to which operands of projections with integer weights are rounded",
                        [{::llvm::cl::values(clEnumValN(::mlir::xfmr::Precision::F32, "f32", "f32, without rounding"),
                                             clEnumValN(::mlir::xfmr::Precision::BF16, "bf16", "bf16"),
                                             clEnumValN(::mlir::xfmr::Precision::F16, "f16", "f16"),
                                             clEnumValN(::mlir::xfmr::Precision::Int8, "int8", "8 bits"))}]>,
                 Option<"formats", "formats", "std::string", "",
                        "default format of projections, then formats by pattern, such as int4:32,lm_head=int8:32">];
}

def RoundGathers : Pass<"xfmr-round-gathers", "::mlir::func::FuncOp"> {
  let summary = "round rows before they are gathered from ranks";
  let description = [{
    ```mlir
    %g = xfmr.all_gather %x, 1 at [0, 24] : tensor<?x24xf32> -> tensor<?x48xf32>
    %y = xfmr.linear %g, %w {precision = #xfmr.precision<bf16>} : tensor<?x48xf32>, tensor<112x48xf32>
    // becomes
    %r = arith.truncf %x : tensor<?x24xf32> to tensor<?x24xbf16>
    %h = xfmr.all_gather %r, 1 at [0, 24] : tensor<?x24xbf16> -> tensor<?x48xbf16>
    %g = arith.extf %h : tensor<?x48xbf16> to tensor<?x48xf32>
    %y = xfmr.linear %g, %w {precision = #xfmr.precision<bf16>} : tensor<?x48xf32>, tensor<112x48xf32>
    ```

    Ranks are the processes that run a divided model; `xfmr.all_gather` joins their shards of a tensor, here columns 0
    to 23 and 24 to 47. The pass rounds the shards of an f32 gather if the readers of its result, `tensor.dim` aside,
    are one or more linears that have it as their input and round it to the same type, bf16 or f16. The gather then
    moves half as many bytes. A gather that has another reader, such as a norm or a residual sum, is not changed. Nor is
    one that an int8 linear reads: the scale of a row, or of a group of its columns, needs the largest magnitude in the
    row or group, of which a shard may have only a part. Run the pass after `xfmr-shard` and `xfmr-lower-precision`.

    Numerics: exact. The linear rounds again, which changes nothing.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def LowerCaches : Pass<"xfmr-lower-caches", "::mlir::ModuleOp"> {
  let summary = "select the element type of caches";
  let description = [{
    ```mlir
    func.func private @layer(%x: …, %keys: tensor<?x2x?x12x64xf32>, %values: tensor<?x2x?x12xf32>, …) { … }
    // becomes, with type=bf16 and with type=int8
    func.func private @layer(%x: …, %keys: tensor<?x2x?x12x64xbf16>, %values: tensor<?x2x?x12xbf16>, …) { … }
    func.func private @layer(%x: …, %keys: tensor<?x2x?x16x64xi8>, %values: tensor<?x2x?x16xi8>, …) { … }
    ```

    Here keys are `[slots, heads, panels, components, keys of a panel]` and values are
    `[slots, heads, tokens, components]`. The pass gives all f32 caches of keys and values another type. Such caches are
    arguments and results of entries (the functions that applications call) and of the functions to which entries pass
    caches, operands and results of `xfmr.kv_cache_update`, and operands of `xfmr.attention`. Other values keep their
    types. With int8 the components are bytes, and the dimension of components grows by four, here from 12 to 16: the
    additional four bytes of a key or value hold its scale, an f32. Caches of masks stay f32. With the type f32 the pass
    changes nothing. With another type, it is an error if a module has an `xfmr.kv_cache_read`, or if a cache is an
    operand of an operation other than `kv_cache_update`, `attention`, `tensor.dim`, `func.return` and calls of
    functions with a body.

    Numerics: rounds keys and values where they enter a cache, as the description of `xfmr.kv_cache_update` says. On a
    CPU, the results of the entries that read caches then agree bit for bit with each other, however the tokens are
    divided among calls. They agree up to that rounding with the results of the entry `forward`, which has no caches and
    keeps keys and values in f32.
  }];
  let options = [Option<"type", "type", "::mlir::xfmr::Precision", "::mlir::xfmr::Precision::F32",
                        "type of the elements of caches",
                        [{::llvm::cl::values(clEnumValN(::mlir::xfmr::Precision::F32, "f32", "f32, without rounding"),
                                             clEnumValN(::mlir::xfmr::Precision::BF16, "bf16", "bf16"),
                                             clEnumValN(::mlir::xfmr::Precision::F16, "f16", "f16"),
                                             clEnumValN(::mlir::xfmr::Precision::Int8, "int8",
                                                        "8 bits, with a scale for each key and each value of a "
                                                        "head"))}]>];
}

def Shard : Pass<"xfmr-shard", "::mlir::ModuleOp"> {
  let summary = "divide projections, heads, embeddings and caches among several ranks";
  let description = [{
    ```mlir
    %q = xfmr.linear %x, %wq : tensor<?x48xf32>, tensor<48x48xf32>
    %h = xfmr.split_heads %q, 4 : tensor<?x48xf32>
    …
    %m = xfmr.merge_heads %a : tensor<?x4x12xf32>
    %y = xfmr.linear %m, %wo : tensor<?x48xf32>, tensor<48x48xf32>
    // becomes, for two ranks
    %w0 = xfmr.weight_shard %wq, 0 at [0, 24] : tensor<48x48xf32> -> tensor<24x48xf32>
    %q = xfmr.linear %x, %w0 : tensor<?x48xf32>, tensor<24x48xf32>
    %h = xfmr.split_heads %q, 2 : tensor<?x24xf32>
    …
    %m = xfmr.merge_heads %a : tensor<?x2x12xf32>
    %g = xfmr.all_gather %m, 1 at [0, 24] : tensor<?x24xf32> -> tensor<?x48xf32>
    %w1 = xfmr.weight_shard %wo, 0 at [0, 24] : tensor<48x48xf32> -> tensor<24x48xf32>
    %y = xfmr.linear %g, %w1 : tensor<?x48xf32>, tensor<24x48xf32>
    ```

    Ranks are the processes that run a model together. Their number is the option `ranks` or, if that is 0, the module's
    attribute `xfmr.ranks`. If the number is 1, or if neither is given, the pass changes nothing; otherwise it sets the
    attribute to the number. All ranks run the resulting module, each with its own shards of the weights. In the
    example, `at [0, 24]` gives the first row or column of the shard of each rank, and a rank computes 24 of the 48
    columns of `%y`.

    - **Projections** (`xfmr.linear`) whose matrix and bias are weights are divided by output features; projections in
      experts, too. Embeddings whose table is a weight are divided by columns. A projection that computes the heads of
      divided attention, or keys or values for a cache, is divided as these heads are. Every rank computes the whole
      result of a projection that `choose_experts` reads, of an embedding with fewer columns than ranks, and of a
      projection with fewer output features than ranks unless it computes such heads.
    - **Attention** is divided by heads. The query heads that share a head of keys and values stay together. If there
      are R ranks and fewer heads of keys and values, G, then R / G ranks, rounded down, keep each head of keys and
      values and divide its query heads; remaining ranks repeat the last shard. Caches have the heads of the rank.
      Masks, head masks, biases, sinks and tables of relative positions with separate elements for each head are divided
      with `xfmr.rank_slice`, or with `xfmr.weight_shard` if they are weights.
    - **Epilogues** are fused before anything is divided, by the patterns of `xfmr-fuse-epilogues` that move operations
      into projections. An addition that no projection can take stays an `arith.addf`, which each rank computes on its
      own columns; it does not go into a norm. A residual in an epilogue is added in another order than one outside of
      it: `xfmr-split-deep-projections`, which runs later, adds it after the first part of a sum. So the epilogues must
      be those of a model that is not divided, or results would have other bits.
    - **Operations on elements or heads** keep tensors divided: `xfmr.activation`; sums, differences and products of
      tensors that are divided in the same way; rotary embeddings and norms of heads; `merge_heads`, and `split_heads`
      if each shard has whole heads. A `tensor.dim` of a dimension that is not divided reads the size of the shard.
    - **Every other operation** is computed by every rank. If it reads a divided tensor, it gets the whole tensor; one
      `xfmr.all_gather` joins the shards for all such readers. A divided projection or embedding also gets its whole
      input or ids in this way.
    - **Sizes**: the shards of a dimension have equal sizes: the size of the dimension divided by the number of ranks,
      rounded up. If several ranks divide the query heads of one head of keys and values, the number of these query
      heads is divided by the number of these ranks. For features and columns other than those of heads, a shard of 64
      or more is rounded up further, to a multiple of 16. If the shards have more indices in all than the dimension, a
      shard that would end behind the last index is moved to end with it, and overlaps the one before.

    Run it after `xfmr-decompose-composites` and before `xfmr-fuse-projections`. Attention whose mask has a dynamic
    number of heads is not divided, and neither is attention with a table of relative positions that has elements for
    each head and is not a weight. If such attention reads caches, that is an error. A number of ranks below 1 is an
    error. So is a cache of keys or values as an operand of a call of an external function, or of an operation other
    than calls, `func.return`, `tensor.dim`, `xfmr.attention`, `xfmr.kv_cache_update` and `xfmr.kv_cache_read`.

    Numerics: exact on a CPU, since one rank computes each sum over features as a whole. Models for a GPU are not divided.
  }];
  let options = [Option<"ranks", "ranks", "int64_t", "0", "number of ranks; 0: the module's attribute xfmr.ranks">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def SplitDeepProjections : Pass<"xfmr-split-deep-projections", "::mlir::func::FuncOp"> {
  let summary = "split projections of many input features into sums of smaller projections";
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

    Here `%t` is the number of tokens. A panel is the weights of a few output features. The kernel of a projection
    multiplies a block of input rows by one panel after the other, and reads the rows again for each panel. If the block
    of rows does not fit in the L2 cache, each of these reads comes from memory. So a linear of K > `max-features` input
    features becomes n = ceil(K / `max-features`) linears. Each but the last has ceil(K / n) features, rounded up to a
    multiple of 64 but not above `max-features`; the last has the rest. With the default of 2048, a block of 128 rows, a
    panel of 32 output features and the next panel take 1.5 MiB.

    The split does not depend on the number of rows, so the result of a row does not depend on other rows. Linears on
    tensors other than f32, of lower precision or with a `format` of integers, linears with an activation or a
    multiplier, and linears whose matrix is not a weight are not changed. Run it after `xfmr-fuse-epilogues` and
    `xfmr-lower-precision`; run `xfmr-hoist-weight-expressions` afterwards, which slices the weights at compile time.

    A projection that would become a sum of more than 4096 linears is an error.

    Numerics: changes the order of additions. Each part has a partial sum over its features, which begins with 0. The
    first part adds bias and residual to its partial sum; each other part adds the result of the part before.
  }];
  let options = [Option<"maxFeatures", "max-features", "int64_t", "2048",
                        "largest number of input features of one linear; 0 disables the pass">];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def TieEmbeddings : Pass<"xfmr-tie-embeddings", "::mlir::ModuleOp"> {
  let summary = "let an embedding read its rows from the packed weights of a projection by the same matrix";
  let description = [{
    ```mlir
    %table = xfmr.weight_ref @wte : tensor<203x48xf32>
    %x = xfmr.embedding %ids, %table : tensor<203x48xf32>
    …
    %head = xfmr.weight_ref @wte : tensor<203x48xf32>
    %y = xfmr.linear %h, %head {precision = #xfmr.precision<bf16>} : tensor<?x48xf32>, tensor<203x48xf32>
    // becomes; only the embedding changes
    %x = xfmr.embedding %ids, %table {tied = #xfmr.precision<bf16>} : tensor<203x48xf32>
    ```

    The matrix of a projection is stored in packed panels, in the precision and format of the projection. A table that
    is also such a matrix, as in language models with tied embeddings, would be stored a second time, as rows. This pass
    sets the embedding's attribute `tied` to the `precision` of the projection, and gives the embedding the `format` of
    the projection, or none if the projection has none. The phase `linalg` then reads the embedding's rows from the
    panels.

    A table is tied if it is an `xfmr.weight_ref` and if, in any function of the module, the matrix of a projection is a
    `weight_ref` of a weight with the same source. A table is also tied if the sources of table and matrix are multiples
    of one source by different factors (`#xfmr.scale`). Then the embedding reads the matrix, and its `scale` becomes the
    factor of the table divided by that of the matrix. Of several projections, the first one whose matrix has the source
    of the table decides; if there is none, the first one whose matrix has another multiple of the same source. Some
    tables keep their own rows, with a remark:

    - a table that also has a use other than as a table or as the matrix of a projection, such as a call, since the
      other use needs the rows anyway;
    - a table whose factor differs from that of the matrix, if the factor of the matrix is not 1 and the projection is
      in f32 without a `format`: the elements of the matrix are products with this factor that have been rounded to f32;
    - a table whose factor divided by that of the matrix is below 2^-20 or above 2^20 in magnitude;
    - the table of an embedding that has `tied` or `scale` already.

    If `xfmr-split-deep-projections` has split all projections by a matrix, a table that is also this matrix keeps its
    own rows, without a remark.

    In a model that `xfmr-shard` has divided among ranks, a rank has some rows of the matrix and some columns of the
    table, so it stores the table separately in any case. If the projection does not round its matrix, the embedding
    stays as it is. If the projection rounds its matrix, because of its `precision` or `format`, this pass replaces the
    embedding of a shard by one of the whole table, tied as above: each rank stores the whole table, rounded as the
    matrix is, and so gets the bits of a model that is not divided. The result of the new embedding replaces the gathers
    of the old one; other users of the old one get the columns of the rank by `xfmr.rank_slice`.

    Run it after `xfmr-lower-precision` and before `xfmr-hoist-weight-expressions`. Only the compilation for the target
    `cpu` runs it, since other targets cannot read rows from panels.

    Numerics: exact for projections in f32 without a `format`. Otherwise rounds embeddings as the description of
    `xfmr.embedding` says under N2, N3 and N4.
  }];
}
