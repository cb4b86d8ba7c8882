//===- KernelOps.td - Tiles of attention, after tiling and before vectors -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef XFMR_KERNEL_OPS_TD
#define XFMR_KERNEL_OPS_TD

include "dialect/Xfmr/IR/XfmrAttrs.td"
include "dialect/Xfmr/IR/XfmrTypes.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// A tile computation in destination-passing style: on tensors it returns its updated destinations, on buffers it writes them.
class Xfmr_TileOp<string mnemonic, list<Trait> traits = []> : Xfmr_Op<mnemonic,
    [DestinationStyleOpInterface, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>] # traits> {
  code tileDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getDestinationsMutable(); }
  }];
  let extraClassDeclaration = tileDeclaration;
}

def Xfmr_KeyPanelOp : Xfmr_TileOp<"key_panel", [AttrSizedOperandSegments]> {
  let summary = "up to `width` keys of one head, transposed into a panel";
  let description = [{
    `panel[d, column + j] = keys[j, d]` for the rows j of `keys`. Columns before `column` (0 if absent) stay as they are, those after the keys become 0, or stay.

    - (C1) `keys` is `[n, D]`, the panel `[D, W]`, with `column + n <= W`.

    ```mlir
    %p = xfmr.key_panel ins(%k : tensor<?x12xf32>) outs(%d : tensor<12x32xf32>) -> tensor<12x32xf32>
    %r = xfmr.key_panel ins(%k : tensor<?x12xf32>) at(%column) outs(%p : tensor<12x32xf32>) -> tensor<12x32xf32>
    ```
  }];
  let arguments = (ins AnyShaped:$keys, Optional<Index>:$column, Variadic<AnyShaped>:$destinations);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $keys `:` type($keys) `)` (`at` `(` $column^ `)`)? `outs` `(` $destinations `:` type($destinations) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def Xfmr_AttentionTileOp : Xfmr_TileOp<"attention_tile", [AttrSizedOperandSegments]> {
  let summary = "attention of a few queries of one or more heads over all keys of their sequence, keys in blocks";
  let description = [{
    Every pair (i, h) of a query and a head, all of which share keys and values, is a row. One block of `key_block` keys at a time, in order from the first block
    the row sees (S keys, `key[p, d, j]` is component d of key `p * W + j`, columns beyond S are ignored; or `key[j, d]`), with running maximum m, sum l and accumulator o:

        t[j]  = x[j] * log2(e), -infinity for keys that are hidden by their position (see `xfmr.attention` for x and what is hidden)
        m'    = max(m, max_j t[j]),  a = 2^(m - m')
        l     = l a + sum_j 2^(t[j] - m'),  o = o a + sum_j 2^(t[j] - m') value[j]
        result[i, h] = o / l * head_scale[h],  probabilities[h, i, j] = 2^(t[j] - m) / l * head_scale[h]

    The first query stands at position `position` among the keys. A score that a mask takes below the most negative f32 becomes that. Rows whose m is in the lower
    half of the range have no visible key: they get what `masked_rows` says. Probabilities of keys hidden by their position are not written.

    - (C1) `query` is `[R, H, D]`, `key` panels `[P, D, W]` with `P * W >= S` or rows `[S, D]`, `value` `[S, E]`, the result `[R, H, E]`; D, E and W
      are static and positive. All are tensors, or all are buffers.
    - (C2) `mask`, if present, is f32, `[S]`, `[1 or R, S]` or `[1 or H, 1 or R, S]`; `head_scale` `[H]`; `distance_bias` `[1 or H, N]`; `relative_key`
      `[1, D, N' + 15]`, static, the distances in descending order; `probabilities`, if present, `[H, R, S]` (the second destination).
    - (C3) `causal`, windows, `distance_bias` and `relative_key` need `position`.
    - (C4) `scratch` and `state`, if present, are contiguous f32 buffers: `[rows, key_block or more]` for scores, `[R * H or more, 32]` for the maxima and sums of
      rows between blocks; vectors need them, `attune-attach-scratch` adds them.
    - (C5) Elements are f32. Keys in rows are of the type of `precision`, bf16 or f16, and so are the values beside them; the queries may be.
    - (N1) 2^x is a polynomial with 2^0 = 1, and 0 below 2^-126. Sums over d and over j of `value` run in order with fused
      multiply-adds; the sum l is kept in 16 lanes joined by a fixed tree. A row's bits do not depend on which rows share its tile.
    - (N2) With `precision` bf16 or f16, queries, keys, weights and values may be rounded to it before they are multiplied; sums are f32.

    ```mlir
    %o = xfmr.attention_tile ins(%q, %k, %v : tensor<?x1x12xf32>, tensor<?x12x32xf32>, tensor<?x12xf32>) at(%position) outs(%d : tensor<?x1x12xf32>)
        {scale = 0.125 : f64, key_block = 512 : i64, causal} -> tensor<?x1x12xf32>
    ```
  }];
  let arguments = (ins AnyShaped:$query, AnyShaped:$key, AnyShaped:$value, Optional<Index>:$position, Optional<AnyShaped>:$mask,
                       Optional<AnyShaped>:$head_scale, Optional<AnyShaped>:$distance_bias, Optional<AnyShaped>:$relative_key,
                       Optional<AnyMemRef>:$scratch, Optional<AnyMemRef>:$state, Variadic<AnyShaped>:$destinations, F64Attr:$scale, I64Attr:$key_block,
                       UnitAttr:$causal, OptionalAttr<I64Attr>:$window_left, OptionalAttr<I64Attr>:$window_right, OptionalAttr<F64Attr>:$softcap,
                       OptionalAttr<F64Attr>:$mask_fill, DefaultValuedAttr<Xfmr_MaskedRowsAttr, "::mlir::xfmr::MaskedRows::Uniform">:$masked_rows,
                       DefaultValuedAttr<Xfmr_RelativeTermsAttr, "::mlir::xfmr::RelativeTerms::Query">:$relative_terms,
                       DefaultValuedAttr<Xfmr_ScoreStageAttr, "::mlir::xfmr::ScoreStage::Softmax">:$score_stage,
                       DefaultValuedAttr<Xfmr_PrecisionAttr, "::mlir::xfmr::Precision::F32">:$precision);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $query `,` $key `,` $value `:` type($query) `,` type($key) `,` type($value) `)` (`at` `(` $position^ `)`)?
    (`mask` `(` $mask^ `:` type($mask) `)`)? (`head_scale` `(` $head_scale^ `:` type($head_scale) `)`)?
    (`distance_bias` `(` $distance_bias^ `:` type($distance_bias) `)`)? (`relative_key` `(` $relative_key^ `:` type($relative_key) `)`)?
    (`scratch` `(` $scratch^ `,` $state `:` type($scratch) `,` type($state) `)`)?
    `outs` `(` $destinations `:` type($destinations) `)` attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = tileDeclaration # [{
    /// The probabilities destination, or null.
    ::mlir::Value getProbabilities() { return getDestinations().size() > 1 ? getDestinations()[1] : ::mlir::Value(); }
    /// Whether keys are rows, not panels.
    bool hasKeyRows() { return ::llvm::cast<::mlir::ShapedType>(getKey().getType()).getRank() == 2; }
    /// Whether keys are hidden by their position.
    bool hidesByPosition() { return getCausal() || getWindowLeft() || getWindowRight(); }
  }];
  let hasVerifier = 1;
}

def Xfmr_KeyRowsOp : Xfmr_TileOp<"key_rows"> {
  let summary = "the keys of a panel, one per row";
  let description = [{
    `rows[j, d] = panel[d, j]` for the rows j of the destination.

    - (C1) `panel` is `[D, W]`, the destination `[n, D]` with `n <= W`.

    ```mlir
    %k = xfmr.key_rows ins(%p : tensor<12x64xf32>) outs(%d : tensor<?x12xf32>) -> tensor<?x12xf32>
    ```
  }];
  let arguments = (ins AnyShaped:$panel, Variadic<AnyShaped>:$destinations);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $panel `:` type($panel) `)` `outs` `(` $destinations `:` type($destinations) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def Xfmr_RotaryTileOp : Xfmr_TileOp<"rotary_tile"> {
  let summary = "the heads of a few tokens, turned by their positions";
  let description = [{
    As `xfmr.rotary` for the tokens of the tile.

    - (C1) `input` and the result are `[n, H, D]`, `positions` `[n]` of i64, `table` `[P, R]` with R even and at most D.
    - (N1) A product, rounded, and a fused multiply-add for each element.

    ```mlir
    %y = xfmr.rotary_tile ins(%x, %p, %t : tensor<?x4x12xf32>, tensor<?xi64>, tensor<512x12xf32>) outs(%d : tensor<?x4x12xf32>) -> tensor<?x4x12xf32>
    ```
  }];
  let arguments = (ins AnyShaped:$input, AnyShaped:$positions, AnyShaped:$table, Variadic<AnyShaped>:$destinations, UnitAttr:$interleaved);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $input `,` $positions `,` $table `:` type($input) `,` type($positions) `,` type($table) `)`
    `outs` `(` $destinations `:` type($destinations) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

#endif // XFMR_KERNEL_OPS_TD
