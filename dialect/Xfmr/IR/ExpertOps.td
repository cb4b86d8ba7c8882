//===- ExpertOps.td - Mixtures of experts ------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef XFMR_EXPERT_OPS_TD
#define XFMR_EXPERT_OPS_TD

include "dialect/Xfmr/IR/XfmrAttrs.td"
include "dialect/Xfmr/IR/XfmrTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// Numbers of the experts that tokens choose, `[tokens, choices]`.
def Xfmr_Choices : 2DTensorOf<[I64]>;
/// Shares: factors of the results of the experts that tokens choose, `[tokens, choices]`.
def Xfmr_Shares : 2DTensorOf<[F32]>;

def Xfmr_ChooseExpertsOp : Xfmr_Op<"choose_experts", [Pure, InferTypeOpAdaptor]> {
  let summary = "chooses for each token the experts with the largest keys, which are functions of scores";
  let description = [{
    `scores` is `[T, E]` for T tokens and E experts, the results are `[T, count]`. Each token chooses experts by keys:
    `key[t, e]` is `scores[t, e]`, or `1 / (1 + exp(-scores[t, e]))` with `sigmoid`, plus `bias[e]` if `bias` is
    present. `choices[t, 0], choices[t, 1], …` are the `count` experts e with the largest keys, the largest first. Of
    experts with equal keys, the one with the lower number comes first; a key that is NaN counts as -infinity.

    Without `sigmoid`, `shares[t, i] = exp(scores[t, choices[t, i]] - m) / sum_e exp(scores[t, e] - m)`, where
    `m = max_e scores[t, e]` is the largest score of all experts that is not NaN. The sum is over all experts or, with
    `normalized`, over the chosen ones, so that the shares of a token add up to 1. With `sigmoid`,
    `shares[t, i] = 1 / (1 + exp(-scores[t, choices[t, i]]))`; with `sigmoid` and `normalized`, each of these numbers is
    divided by their sum over i. `bias` does not enter the shares.

    With `groups`, the experts are divided into that many groups of E / `groups` consecutive experts, and a token
    chooses only from the `kept_groups` groups with the largest group keys. The group key is the sum of the `group_keys`
    largest keys of the experts in the group; a sum that is NaN counts as -infinity. Of groups with equal group keys,
    the one with the lower number comes first.

    - (C1) E, the number of columns of `scores`, is static. `count` is from 1 to E.
    - (C2) `bias` has an element for each expert.
    - (C3) Either `groups`, `kept_groups` and `group_keys` are all present or none is. `groups` divides E and is from 1
      to 64, since compiled code marks the kept groups by the bits of one integer. `kept_groups` is from 1 to `groups`,
      and the kept groups together have `count` experts or more. `group_keys` is 1 or 2, and not more than the number of
      experts of a group.
    - (N1) Arithmetic is f32, with the exp of `xfmr.activation`. The sum that divides the shares runs over all experts
      in order or, with `normalized`, over the choices in order. If one of its terms is NaN, all shares of the token are
      NaN.

    ```mlir
    %choices, %shares = xfmr.choose_experts %scores, 2 {normalized} : tensor<?x8xf32>   // tensor<?x2xi64>, tensor<?x2xf32>
    ```
  }];
  let arguments = (ins 2DTensorOf<[F32]>:$scores, Optional<1DTensorOf<[F32]>>:$bias, I64Attr:$count, UnitAttr:$normalized,
                       UnitAttr:$sigmoid, OptionalAttr<I64Attr>:$groups, OptionalAttr<I64Attr>:$kept_groups,
                       OptionalAttr<I64Attr>:$group_keys);
  let results = (outs Xfmr_Choices:$choices, Xfmr_Shares:$shares);
  let assemblyFormat = "$scores `,` $count (`bias` `(` $bias^ `:` type($bias) `)`)? attr-dict `:` type($scores)";
  let hasVerifier = 1;
}

def Xfmr_ExpertsOp : Xfmr_Op<"experts", [Pure, AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let summary = "adds up the results of the feed-forward networks that each token chooses, each times its share";
  let description = [{
    `result[t, :] = sum_i shares[t, i] * f_e(input[t, :])` with `e = choices[t, i]`, one of E experts. f_e is the
    `xfmr.ffn` of the matrices and biases of expert e: the first line below or, with `gate`, the second, where `*`
    multiplies element by element.

        f_e(x) = activation(x up[e]^T + up_bias[e]) down[e]^T + down_bias[e]
        f_e(x) = (activation(x gate[e]^T + gate_bias[e]) * (x up[e]^T + up_bias[e])) down[e]^T + down_bias[e]

    The description of `xfmr.activation` has the formulas of activations. With `glu_limit` and `glu_alpha`, the product
    of gate and up is replaced by the `xfmr.clamped_glu` of `x gate[e]^T + gate_bias[e]` and `x up[e]^T + up_bias[e]`
    with this limit and alpha.

    `xfmr-decompose-experts` rewrites the operation as a loop over experts.

    - (C1) `choices` and `shares` have one shape, `[T, k]`, with k static. Behavior is undefined if a token chooses an
      expert twice, or if a choice is not from 0 to E - 1.
    - (C2) `input` is `[T, N]`, `up` is `[E, M, N]`, `gate` has the type of `up`, `down` is `[E, N', M]` and the result
      `[T, N']`.
    - (C3) A bias is `[E, rows]` for a stack of matrices `[E, rows, columns]`. Either all stacks have a bias or none.
    - (C4) Either both `glu_limit` and `glu_alpha` are present or neither is. They require `gate` and the activation
      `none`; the limit is positive.
    - (N1) The sum starts from 0 and runs over the experts of a token in ascending order, with one fused multiply-add
      per expert. The arithmetic of f_e is that of `xfmr.ffn` and `xfmr.clamped_glu`. On a CPU the bits of the result of
      a token do not depend on other tokens. On a GPU they may depend on T and on the choices of other tokens: the
      projections of an expert have T rows, the first of which are those of the tokens that choose it, and the order of
      the sums of a row depends on T and on the place of the row among the T.

    ```mlir
    %y = xfmr.experts <silu> %x choices(%c, %s : tensor<?x2xi64>, tensor<?x2xf32>) up(%up : tensor<8x112x48xf32>)
        down(%down : tensor<8x48x112xf32>) gate(%gate : tensor<8x112x48xf32>) : tensor<?x48xf32>
    ```
  }];
  let arguments = (ins Xfmr_ActivationAttr:$activation, Xfmr_Tokens:$input, Xfmr_Choices:$choices, Xfmr_Shares:$shares, Xfmr_Stack:$up,
                       Optional<Xfmr_Matrix>:$up_bias, Xfmr_Stack:$down, Optional<Xfmr_Matrix>:$down_bias, Optional<Xfmr_Stack>:$gate,
                       Optional<Xfmr_Matrix>:$gate_bias, OptionalAttr<F64Attr>:$glu_limit, OptionalAttr<F64Attr>:$glu_alpha);
  let results = (outs Xfmr_Tokens:$result);
  let assemblyFormat = [{
    $activation $input `choices` `(` $choices `,` $shares `:` type($choices) `,` type($shares) `)`
    `up` `(` $up (`,` $up_bias^)? `:` type($up) (`,` type($up_bias)^)? `)`
    `down` `(` $down (`,` $down_bias^)? `:` type($down) (`,` type($down_bias)^)? `)`
    (`gate` `(` $gate^ (`,` $gate_bias^)? `:` type($gate) (`,` type($gate_bias)^)? `)`)? attr-dict `:` type($input)
  }];
  let extraClassDeclaration = [{
    /// Returns the number of experts.
    int64_t getNumExperts() { return getUp().getType().getDimSize(0); }
  }];
  let hasVerifier = 1;
}

def Xfmr_GroupByExpertOp : Xfmr_Op<"group_by_expert", [Pure, InferTypeOpAdaptor]> {
  let summary = "sorts the choices of all tokens by expert";
  let description = [{
    The results have a row for each pair (t, i) of a token t and one of its k choices. Rows are in ascending order of
    `choices[t, i]`, then of t, then of i. The row of the pair (t, i) has `tokens[row] = t` and
    `row_shares[row] = shares[t, i]`; the rows of expert e are `offsets[e]` to `offsets[e + 1] - 1`. `offsets` has
    `experts + 1` elements, where `experts` is the number of experts; `tokens` and `row_shares` have `T * k`.

    - (C1) `choices` and `shares` have one shape, `[T, k]`, with k static, and `experts` is positive. A choice that is
      not from 0 to `experts - 1` is undefined behavior.

    ```mlir
    %offsets, %tokens, %row_shares = xfmr.group_by_expert %c, %s, 8 : tensor<?x2xi64>, tensor<?x2xf32>   // tensor<9xi64>, …
    ```
  }];
  let arguments = (ins Xfmr_Choices:$choices, Xfmr_Shares:$shares, I64Attr:$experts);
  let results = (outs 1DTensorOf<[I64]>:$offsets, Xfmr_Ids:$tokens, 1DTensorOf<[F32]>:$row_shares);
  let assemblyFormat = "$choices `,` $shares `,` $experts attr-dict `:` type($choices) `,` type($shares)";
}

def Xfmr_ListByExpertOp : Xfmr_Op<"list_by_expert", [Pure, InferTypeOpAdaptor]> {
  let summary = "lists the tokens that choose each expert";
  let description = [{
    Replaces `xfmr.group_by_expert` where the host cannot read tensors, as with a GPU: the host then does not know where
    the rows of an expert begin. So each of the E experts (E is the attribute `experts`) has a list of its own, with
    room for all T tokens.

    `counts[e]` is the number of tokens that choose expert e, those tokens t with `choices[t, i] = e` for some i. These
    tokens, in ascending order, are `tokens[e, 0]` to `tokens[e, counts[e] - 1]`. For the token t = `tokens[e, j]`,
    `row_shares[e, j]` is `shares[t, i]`, where i is the smallest with `choices[t, i] = e`. For j >= `counts[e]`,
    `tokens[e, j]` is -1 and `row_shares[e, j]` is 0. `counts` is `[E]`, `tokens` and `row_shares` are `[E, T]`.

    - (C1) `choices` and `shares` have one shape, `[T, k]`, with k static. `experts` is positive. A choice that is not
      from 0 to E - 1 is in no list; unused rows of packed tokens (see `xfmr.pack_tokens`) may have such choices.

    ```mlir
    %n, %tokens, %row_shares = xfmr.list_by_expert %c, %s, 8 : tensor<?x2xi64>, tensor<?x2xf32>   // tensor<8xi64>, tensor<8x?xi64>, …
    ```
  }];
  let arguments = (ins Xfmr_Choices:$choices, Xfmr_Shares:$shares, I64Attr:$experts);
  let results = (outs 1DTensorOf<[I64]>:$counts, 2DTensorOf<[I64]>:$tokens, 2DTensorOf<[F32]>:$row_shares);
  let assemblyFormat = "$choices `,` $shares `,` $experts attr-dict `:` type($choices) `,` type($shares)";
}

def Xfmr_AddRowsOp : Xfmr_Op<"add_rows", [Pure, AllTypesMatch<["sum", "result"]>]> {
  let summary = "adds rows, each multiplied by a factor, to the listed rows of a sum";
  let description = [{
    `result[tokens[i], n] = fma(factors[i], rows[i, n], sum[tokens[i], n])` for each row i of `rows`, where the fused
    multiply-add `fma(a, b, c) = a * b + c` rounds once. The rows of the result that `tokens` does not list are those of
    `sum`. With `padded`, `tokens[i]` may be negative; row i is then not added.

    - (C1) `sum` and `rows` have the same number of columns. `tokens` and `factors` have an element for each row of
      `rows`. Behavior is undefined if an element of `tokens` is not the number of a row of `sum`, or if two elements
      are equal; with `padded`, this holds for the elements that are not negative.

    ```mlir
    %y = xfmr.add_rows %rows, %factors to %sum at %tokens : tensor<?x48xf32>, tensor<?xf32> to tensor<?x48xf32>
    ```
  }];
  let arguments = (ins 2DTensorOf<[F32]>:$rows, 1DTensorOf<[F32]>:$factors, 2DTensorOf<[F32]>:$sum, Xfmr_Ids:$tokens,
                       UnitAttr:$padded);
  let results = (outs 2DTensorOf<[F32]>:$result);
  let assemblyFormat = "$rows `,` $factors `to` $sum `at` $tokens attr-dict `:` type($rows) `,` type($factors) `to` type($sum)";
  let hasVerifier = 1;
}

#endif // XFMR_EXPERT_OPS_TD
