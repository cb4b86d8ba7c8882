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

    The composites are `xfmr.ffn` and `xfmr.multi_head_attention`. An `ffn` (feed-forward network) becomes two linears.
    With a gate it becomes three: the activation belongs to the gate's linear, whose result is the multiplier of the
    up-projection. A `multi_head_attention` becomes a linear and a `split_heads` for each of query, key and value, then
    `attention`, `merge_heads` and, if it has output weights, one more linear. The numbers of heads go to the
    `split_heads`, all other attributes and the operands that concern scores, such as masks and biases, to the
    `attention`.

    Leaves no composite. Run it before the passes that match linears, and after `xfmr-decompose-experts`, which creates
    `ffn`.

    Numerics: exact; a composite is defined as the operations that it becomes.
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

    Here a layer has 8 experts, feed-forward networks on tokens of 48 features. `%c` has the experts that each token
    chooses, `%s` its share of each. `xfmr.group_by_expert` sorts the pairs of a token and a chosen expert by expert:
    expert `%e` has the `%count` rows of `%rows` from `%begin` on, and `%some` is true if `%count` is not 0.
    `xfmr.weight_select` takes the matrix of one expert from `%up`. For an expert without rows nothing is computed, and
    its weights are not read. `xfmr.add_rows` multiplies each row by its share and adds it to the sum of its token. With
    `glu_limit`, three `xfmr.linear` and an `xfmr.clamped_glu` replace the `xfmr.ffn`.

    Leaves no `xfmr.experts`. Run it before `xfmr-decompose-composites`, which decomposes the `xfmr.ffn`. The host
    decides which experts run, so it must read what tokens choose. For a target whose host cannot read tensors, a GPU,
    set `known-counts`: it allows only counts that the host knows without them, and `xfmr.experts` is an error.

    Numerics: exact; the operation is defined as this sum.
  }];
  let options = [Option<"knownCounts", "known-counts", "bool", "false",
                        "allow only counts that the host knows without reading tensors, as for a GPU">];
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

    The epilogue of a linear, its bias, activation, multiplier and residual, is computed while the sums of the product
    are in registers.

    - An `xfmr.activation` of a linear without activation, multiplier and residual becomes the linear's activation.
    - An `arith.addf` of a linear without residual disappears: its other operand becomes the linear's residual.
    - A `layer_norm` or `rms_norm` computes the norm of its input plus its residual. If one of the two is a linear
      without residual, the other becomes the linear's residual.
    - If the input of a norm without residual is a token tensor, computed by an `arith.addf` that no linear can take, the
      norm takes it: one operand becomes the norm's input, the other its residual.

    If both operands of an addition are linears without residual, the result of the earlier one becomes the residual of
    the later one. A linear is fused with an activation, an addition or a norm only if both are in one block and the
    linear has no other use; a remark names each linear with several uses, one of them by an activation or an addition.
    Likewise, a norm takes an `arith.addf` only from its own block and only if the addition has no other use. The fused
    linear is at the position of the activation, addition or norm. Run `xfmr-decompose-composites` and `canonicalize`
    first, which leave no `xfmr.dropout` between a linear and its user.

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

    Here queries and keys have 4 heads of 12 components each, for `%t` tokens. The joined projection reads the input
    once. The pass joins linears of one block and one input, without multiplier and residual, whose matrices, of static
    shape, and biases are weights: arguments marked `xfmr.weight`, `weight_ref`s, or expressions over these. All users
    of their results must be `split_heads`, since these read a slice of columns as a strided view, without a copy. If
    two of the linears differ in activation, precision, format of weights, element types or the presence of a bias, none
    of them is joined, and a remark gives the reason.

    Expects composites decomposed. Run `xfmr-hoist-weight-expressions` afterwards, so that weights are joined at compile
    time.

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

    The source of an `xfmr.weight` is an attribute that says how the compiler computes the weight from tensors of the
    model folder. A weight expression is an operation on weights, such as `weight_concat`, `weight_slice` or
    `weight_pack`, or a tree of them. This pass moves expressions into sources, so that the compiler evaluates them when
    it packs the weights file and the compiled model reads the results.

    In a private function whose only users are `func.call`s, an expression over arguments marked `xfmr.weight` becomes a
    new argument, which every caller computes; marked arguments without a remaining use are removed. Callees are
    processed before callers. An expression over `weight_ref`s becomes a `weight_ref` of a weight with the composed
    source, a new one if the module has none. References and weights without a remaining use are removed. Public
    functions, functions with users other than calls, and at least one function of each cycle of calls keep their
    arguments and the expressions over them; a remark names each of these functions that has such expressions.

    Runs in the phases that create weight expressions, after the passes that do: in `dialect`, which divides weights
    among ranks, joins projections and splits deep ones, and in `linalg`, which rounds weights and packs panels. Takes
    time linear in the number of operations.

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

    Sets the attribute `precision` of every linear on f32 tensors that has neither a precision nor a `format`. The types
    stay f32; the phase `linalg` rounds the operands. With the precision f32 the pass changes nothing. With another one,
    some linears stay as they are, with a remark:

    - a linear whose result is an operand of `choose_experts`, because rounding could change which experts run;
    - a linear on tensors of another element type;
    - with int8, a linear of more than 65536 input features, because its sums of products of bytes, up to 255 x 127
      each, could exceed 32 bits.

    Attention, norms, embeddings and elementwise operations are not changed. Runs after `xfmr-decompose-composites` and
    `xfmr-assign-weight-formats`.

    Numerics: rounds the operands of products, as the description of `xfmr.linear` says under N2 and N3.
  }];
  let options = [Option<"precision", "precision", "::mlir::xfmr::Precision", "::mlir::xfmr::Precision::BF16",
                        "type to which operands of projections are rounded",
                        [{::llvm::cl::values(clEnumValN(::mlir::xfmr::Precision::F32, "f32", "f32, without rounding"),
                                             clEnumValN(::mlir::xfmr::Precision::BF16, "bf16", "bf16, summed in f32"),
                                             clEnumValN(::mlir::xfmr::Precision::F16, "f16", "f16, summed in f32"),
                                             clEnumValN(::mlir::xfmr::Precision::Int8, "int8",
                                                        "8 bits, with a scale per token and one per output feature"))}]>];
}

def AssignWeightFormats : Pass<"xfmr-assign-weight-formats", "::mlir::ModuleOp"> {
  let summary = "select the formats of the weights of projections and of the tables of embeddings";
  let description = [{
    ```mlir
    %y = xfmr.linear %x, %w : tensor<?x48xf32>, tensor<203x48xf32>
    // becomes, with precision=int8 and formats=int4:32,lm_head=int8:32, if %w is the matrix of the head
    %y = xfmr.linear %x, %w {format = #xfmr.weight_format<"int8:32">, precision = #xfmr.precision<int8>}
        : tensor<?x48xf32>, tensor<203x48xf32>
    ```

    `formats` is a list of the form of `--weights-format` (docs/weight-formats.md): a format for all projections and
    then formats for patterns of names, of which the last that matches decides. A pattern is compared with the names of
    the tensors of which the matrix is made; `lm_head` stands for each projection in an entry, if its matrix has a row
    for each id of `input_ids` or `decoder_input_ids`, and `embeddings` for all f32 tables of `xfmr.embedding` that are
    made of tensors of the model folder. Sets the `format` of projections and embeddings, and with a format of integers
    the `precision` of the projection. A projection that scores experts, or whose tensors are not f32, gets no format;
    nor, with the precision int8, does one of more than 65536 input features get a format of integers. A remark names
    each of these projections. A linear or an embedding that has a precision, a format or a tie of its own stays as it
    is.

    Layers share functions, to which their weights are arguments. If the calls of a function differ in the formats of
    the matrices that they pass, each combination of formats but the first gets a clone of the function. So the number
    of functions depends on that of combinations, not on that of layers. A function that is public or has users other
    than calls keeps the format of all projections; only calls with other formats get clones. Takes time linear in the
    number of operations.

    Errors: a malformed list or `auto`, a pattern without a matching weight, a matrix of several tensors or weights that
    get different formats, a weight of a recursive function whose format is not that of all projections. Expects
    composites decomposed. Runs after `xfmr-shard` and before `xfmr-fuse-projections`, which joins projections of one
    format only.

    Numerics: rounds weights, and the operands of products, as the description of `xfmr.linear` says under N4 to N6 and that
    of `xfmr.embedding` under N2.
  }];
  let options = [Option<"precision", "precision", "::mlir::xfmr::Precision", "::mlir::xfmr::Precision::F32",
                        "type to which operands of projections with integer weights are rounded",
                        [{::llvm::cl::values(clEnumValN(::mlir::xfmr::Precision::F32, "f32", "f32, without rounding"),
                                             clEnumValN(::mlir::xfmr::Precision::BF16, "bf16", "bf16"),
                                             clEnumValN(::mlir::xfmr::Precision::F16, "f16", "f16"),
                                             clEnumValN(::mlir::xfmr::Precision::Int8, "int8", "8 bits"))}]>,
                 Option<"formats", "formats", "std::string", "", "formats of weights, such as int4:32,lm_head=int8:32">];
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

    A gather of f32 is rounded if all its readers but `tensor.dim` are linears that round it, as their input, to the
    same floating-point type, bf16 or f16. It then moves half of the bytes. A gather that has another reader, such as a
    norm or a residual sum, is not changed, nor is one that int8 linears read, whose scales need the largest magnitude
    of the whole row. Runs after `xfmr-shard` and `xfmr-lower-precision`.

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

    Gives all caches of keys and values another type: the arguments and results of entries, those of the functions to
    which entries pass caches, the results of `xfmr.kv_cache_update`, and so the caches that it and `xfmr.attention`
    read. Other operands and results keep their types. With int8 each key and each value of a head grows by four bytes,
    its scale. Caches of masks stay f32. With the type f32 the pass changes nothing. With another type, it is an error
    if a module has an `xfmr.kv_cache_read`, or if a cache is an operand of an operation other than `kv_cache_update`,
    `attention`, `tensor.dim`, `func.return` and calls of functions with a body.

    Numerics: rounds keys and values where they enter a cache, as the description of `xfmr.kv_cache_update` says. The
    entries that read caches then agree bit for bit with each other on a CPU, however the tokens are divided among
    calls; with `forward`, which keeps its keys in f32, they agree up to that rounding.
  }];
  let options = [Option<"type", "type", "::mlir::xfmr::Precision", "::mlir::xfmr::Precision::F32",
                        "type of the elements of caches",
                        [{::llvm::cl::values(clEnumValN(::mlir::xfmr::Precision::F32, "f32", "f32, without rounding"),
                                             clEnumValN(::mlir::xfmr::Precision::BF16, "bf16", "bf16"),
                                             clEnumValN(::mlir::xfmr::Precision::F16, "f16", "f16"),
                                             clEnumValN(::mlir::xfmr::Precision::Int8, "int8", "8 bits, with a scale for each key"))}]>];
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

    The number of ranks is the option `ranks` or, if that is 0, the module's attribute `xfmr.ranks`, which the pass sets
    to it. With 1, or without either, the pass changes nothing. All ranks run the resulting module, each with its own
    shards of the weights.

    - A projection whose matrix and bias are weights is divided by its output features, also those of each expert of a
      layer, and an embedding whose table is a weight by the columns of the table; a projection to heads of attention
      that is divided, or of a cache, is divided as these heads are. A projection to fewer features than ranks that is
      not one to such heads, one whose result `choose_experts` reads, and an embedding of fewer columns than ranks are
      not divided: every rank computes all of it.
    - Attention is divided by heads. The query heads that share a head of keys and values stay together. If there are
      more ranks than heads of keys and values, `ranks / heads` ranks, rounded down, keep the same one and divide its
      query heads; remaining ranks repeat the last shard. Caches of keys and values have the heads of the rank. Masks,
      biases, sinks and tables of relative positions with elements for each head are divided with `xfmr.rank_slice`, or
      with `xfmr.weight_shard` if they are weights.
    - Before anything is divided, epilogues are fused as by `xfmr-fuse-epilogues`, but norms take no additions. A rank
      adds the columns of the residual that it computes: the position of the residual in a sum decides its bits
      (`xfmr-split-deep-projections`).
    - Operations on elements or heads keep tensors divided: activations; sums, differences and products of tensors that
      are divided alike; rotary embeddings and norms of heads; `merge_heads`, and `split_heads` if each shard has whole
      heads. So does a `tensor.dim` of a dimension that is not divided.
    - Every other operation that reads a divided tensor gets the whole tensor; one `xfmr.all_gather` joins it for all
      such readers. A divided projection or embedding reads its input or ids as a whole in this way, and computes a
      shard. An operation that no rule here divides is computed by every rank.
    - The shards of a dimension have equal sizes, the size of the dimension divided by the ranks and rounded up. For
      features and columns other than those of heads, a size of 64 or more is rounded up further, to a multiple of 16.
      If the shards have more indices in all than the dimension, the last ones overlap.

    Expects composites decomposed, and runs before projections are fused. Attention whose mask has a dynamic number of
    heads, or with a table of relative positions for each head that is not a weight, is not divided; with caches it is
    an error. A number of ranks below 1 is an error, and so is a cache as an operand of an external function, or of an
    operation other than calls, `func.return`, `tensor.dim`, attention and those on caches.

    Numerics: exact. A sum over features is computed by one rank as a whole.
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

    The kernel of a projection multiplies a block of input rows by the panels of the weights, one after the other, and
    reads the rows again for each panel; a panel is the weights of a few output features. If the block of rows does
    not fit in the L2 cache, each of these reads comes from memory. So a linear of K > `max-features` input features
    becomes n = ceil(K / `max-features`) linears. Each but the last has ceil(K / n) features, rounded up to a multiple
    of 64 but not above `max-features`; the last has the rest. With the default of 2048, 128 rows, a panel of 32
    columns and the next one take 1.5 MiB.

    The split does not depend on the number of rows, so the result of a row does not depend on other rows. Linears on
    tensors other than f32, of lower precision or with a `format` of integers, linears with an activation or a
    multiplier, and linears whose matrix is not a weight are not changed. Run it after `xfmr-fuse-epilogues` and
    `xfmr-lower-precision`; run `xfmr-hoist-weight-expressions` afterwards, which slices the weights at compile time.

    A projection that would become a sum of more than 4096 linears is an error.

    Numerics: changes the order of additions. The sum over K is the sum of one partial sum per part, in order of K; bias
    and residual are added to the first.
  }];
  let options = [Option<"maxFeatures", "max-features", "int64_t", "2048",
                        "largest number of input features of one linear; 0 disables the pass">];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def TieEmbeddings : Pass<"xfmr-tie-embeddings", "::mlir::ModuleOp"> {
  let summary = "let embeddings read the weights of projections that have their table as matrix";
  let description = [{
    ```mlir
    %table = xfmr.weight_ref @wte : tensor<203x48xf32>
    %x = xfmr.embedding %ids, %table : tensor<203x48xf32>
    …
    %head = xfmr.weight_ref @wte : tensor<203x48xf32>
    %y = xfmr.linear %h, %head {precision = #xfmr.precision<bf16>} : tensor<?x48xf32>, tensor<203x48xf32>
    // becomes
    %x = xfmr.embedding %ids, %table {tied = #xfmr.precision<bf16>} : tensor<203x48xf32>
    ```

    The weights of a projection are packed in panels, in the precision and format of the projection. A table that is
    also such a matrix, as in language models with tied embeddings, would be stored a second time, as rows. This pass
    gives the embedding the attributes `tied` and `format` of the projection, and the phase `linalg` reads its rows from
    the panels.

    A table is tied if it is a `weight_ref`, in any function of the module, whose source is that of a projection's
    matrix, also a `weight_ref`. If table and matrix are multiples of one source by different factors (`#xfmr.scale`),
    the embedding reads the matrix and gets the quotient of the factors as its `scale`. If several projections have the
    matrix, the first counts. Some tables keep their own rows, with a remark:

    - a table with users that are neither embeddings nor projections, such as a call, since its rows are stored anyway;
    - a table whose f32 projection has another multiple of the source as its matrix, and that matrix is scaled, since
      its product with the factor was rounded;
    - a table whose quotient of factors is below 2^-20 or above 2^20 in magnitude;
    - the table of an embedding that has a `tied` or `scale` already.

    If `xfmr-split-deep-projections` has divided all projections by a matrix, its table keeps its rows without a remark.

    Among ranks the matrix is divided by rows and the table by columns (`xfmr-shard`), so nothing is shared. If the
    projection rounds its matrix, each rank nevertheless gets a whole table that is rounded in the same way, so that
    embeddings have the bits of one rank; it needs no gather.

    Runs after `xfmr-lower-precision` and before `xfmr-hoist-weight-expressions`, for targets that read rows from panels.

    Numerics: exact for projections in f32 without a `format`. Otherwise rounds embeddings as the description of
    `xfmr.embedding` says under N2, N3 and N4.
  }];
}
