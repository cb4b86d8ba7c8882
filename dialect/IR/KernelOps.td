//===- KernelOps.td - Tiles of attention, after tiling and before vectors -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef XFMR_KERNEL_OPS_TD
#define XFMR_KERNEL_OPS_TD

include "dialect/IR/XfmrAttrs.td"
include "dialect/IR/XfmrTypes.td"
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

def Xfmr_KeyPanelOp : Xfmr_TileOp<"key_panel"> {
  let summary = "up to `width` keys of one head, transposed into a panel";
  let description = [{
    `panel[d, j] = keys[j, d]` for the rows j of `keys`, 0 for other columns.

    - (C1) `keys` is `[n, D]`, the panel `[D, W]`, with `n <= W`.

    ```mlir
    %p = xfmr.key_panel ins(%k : tensor<?x12xf32>) outs(%d : tensor<12x32xf32>) -> tensor<12x32xf32>
    ```
  }];
  let arguments = (ins AnyShaped:$keys, Variadic<AnyShaped>:$destinations);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $keys `:` type($keys) `)` `outs` `(` $destinations `:` type($destinations) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def Xfmr_AttentionTileOp : Xfmr_TileOp<"attention_tile", [AttrSizedOperandSegments]> {
  let summary = "attention of a few query rows of one head over all keys of their sequence, keys in blocks";
  let description = [{
    One block of `key_block` keys at a time, in order (S keys, `key[p, d, j]` is component d of key `p * W + j`, columns beyond S are
    ignored), with running maximum m, sum l and accumulator o:

        t[j]  = score[j] * scale * log2(e) + mask[i, j]          mask is already in units of log2
        m'    = max(m, max_j t[j]),  a = 2^(m - m')
        l     = l a + sum_j 2^(t[j] - m'),  o = o a + sum_j 2^(t[j] - m') value[j]
        result[i] = o / l * head_scale,  probabilities[i, j] = 2^(t[j] - m) / l * head_scale

    - (C1) `query` is `[R, D]`, `key` `[P, D, W]` with `P * W >= S`, `value` `[S, E]`, the result `[R, E]`.
    - (C2) `mask`, if present, is f32 `[1 or R, S]`; `probabilities`, if present, `[R, S]` (the second destination).
    - (C3) `scratch`, if present, is a contiguous f32 buffer `[rows, key_block or more]`; vectors need it, `attune-attach-scratch` adds it.
    - (N1) 2^x is a polynomial with 2^0 = 1, and 0 below 2^-126. Sums over d and over j of `value` run in order with fused
      multiply-adds; the sum l is kept in 16 lanes joined by a fixed tree.

    ```mlir
    %o = xfmr.attention_tile ins(%q, %k, %v : tensor<?x12xf32>, tensor<?x12x32xf32>, tensor<?x12xf32>) outs(%d : tensor<?x12xf32>)
        {scale = 0.125 : f64, key_block = 512 : i64} -> tensor<?x12xf32>
    ```
  }];
  let arguments = (ins AnyShaped:$query, AnyShaped:$key, AnyShaped:$value, Optional<AnyShaped>:$mask, Optional<F32>:$head_scale,
                       Optional<AnyMemRef>:$scratch, Variadic<AnyShaped>:$destinations, F64Attr:$scale, I64Attr:$key_block,
                       DefaultValuedAttr<Xfmr_MaskedRowsAttr, "::mlir::xfmr::MaskedRows::Uniform">:$masked_rows);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $query `,` $key `,` $value `:` type($query) `,` type($key) `,` type($value) `)` (`mask` `(` $mask^ `:` type($mask) `)`)?
    (`head_scale` `(` $head_scale^ `)`)? (`scratch` `(` $scratch^ `:` type($scratch) `)`)?
    `outs` `(` $destinations `:` type($destinations) `)` attr-dict (`->` type($results)^)?
  }];
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$results, "::mlir::Value":$query, "::mlir::Value":$key, "::mlir::Value":$value, "::mlir::Value":$mask,
                                 "::mlir::Value":$headScale, "::mlir::ValueRange":$destinations, "::mlir::FloatAttr":$scale,
                                 "::mlir::IntegerAttr":$keyBlock, "::mlir::xfmr::MaskedRowsAttr":$maskedRows), [{
    build($_builder, $_state, results, query, key, value, mask, headScale, ::mlir::Value(), destinations, scale, keyBlock, maskedRows);
  }]>];
  let extraClassDeclaration = tileDeclaration # [{
    /// The probabilities destination, or null.
    ::mlir::Value getProbabilities() { return getDestinations().size() > 1 ? getDestinations()[1] : ::mlir::Value(); }
  }];
  let hasVerifier = 1;
}

#endif // XFMR_KERNEL_OPS_TD
