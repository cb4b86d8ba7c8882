//===- CacheOps.td - Keys and values kept between calls ----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef XFMR_CACHE_OPS_TD
#define XFMR_CACHE_OPS_TD

include "dialect/Xfmr/IR/XfmrAttrs.td"
include "dialect/Xfmr/IR/XfmrTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// Mask of the keys of a batch, `[batch, keys]`: `tensor<?x?xf32>`.
def Xfmr_DynamicMask : Type<CPred<"$_self == ::mlir::RankedTensorType::get({::mlir::ShapedType::kDynamic, ::mlir::ShapedType::kDynamic}, "
                                  "::mlir::Float32Type::get($_self.getContext()))">, "tensor<?x?xf32>", "::mlir::RankedTensorType">,
    BuildableType<"::mlir::RankedTensorType::get({::mlir::ShapedType::kDynamic, ::mlir::ShapedType::kDynamic}, $_builder.getF32Type())">;

/// Keys or values to append: `[T, G, D]` for packed tokens, or `[B, G, L, D]`, the layout in which models receive
/// earlier keys and values.
def Xfmr_NewKeys : RankedTensorOf<[Xfmr_Float], [HasAnyRankOfPred<[3, 4]>]>;

def Xfmr_KvCacheUpdateOp : Xfmr_Op<"kv_cache_update", [Pure, AttrSizedOperandSegments, AllTypesMatch<["key_cache", "new_key_cache"]>,
                                           AllTypesMatch<["value_cache", "new_value_cache"]>]> {
  let summary = "appends the keys and values of new tokens to the caches, in place";
  let description = [{
    A cache has a slot for each sequence. With P panels of W keys and room for C values in a slot, key j of head g of a
    slot is `key_cache[slot, g, j / W, :, j mod W]`, where `j / W` is an integer division, and its value is
    `value_cache[slot, g, j, :]`. G is the number of heads, D and E are the components of a key and of a value.

    New key i of sequence b becomes key `past[b] + i` of slot `slots[b]`, or of slot b without `slots`, and likewise its
    value; `past[b]` is the number of keys that the slot has. Where `key` is `[T, G, D]`, the keys of all sequences one
    after the other, new key i is `key[offsets[b] + i, :, :]`, for i from 0 to `offsets[b + 1] - offsets[b] - 1`. Where
    `key` is `[B, G, L, D]`, L keys for each sequence, new key i is `key[b, :, i, :]`. All other elements are unchanged,
    except that the keys after the new ones in the last panel written may become 0; readers ignore them.

    The operation consumes its cache operands: later readers use the results, which are the same memory.

    Caches of f32 hold the elements of `key` and `value`, caches of bf16 and f16 these elements rounded to nearest, ties
    to even; of f16, an element of magnitude 65520 or more becomes infinite. Caches of i8 hold integers and, for each
    key and each value of a head, an f32 scale. With m the largest magnitude of the components x[d] of a key or a value,

        scale = m / 127,  integer[d] = round(x[d] * (127 / m))          both 0 if m < 2^-119

    where `round` rounds to nearest, ties to even. The scale of value j is the bytes E to E + 3 of its row. The last
    four rows of a panel, taken as one row of `4 * W` bytes, have the scales of its W keys one after the other: that of
    key j is the bytes `4 * (j mod W)` to `4 * (j mod W) + 3`. Scales have the byte order of the machine.

        panel of keys of i8, W = 64                                  row of a value of i8
        row 0      | key 0 | key 1 | ...             | key 63 |      | component 0 | ... | component E - 1 | scale: 4 bytes |
        ...
        row D - 1  |       |       |                 |        |
        row D      | scale of key 0: 4 bytes | ... | of key 15 |
        row D + 1  | scale of key 16         | ... | of key 31 |
        row D + 2  ...

    - (C1) `key` and `value` are `[T, G, D]` and `[T, G, E]` with `offsets`, or `[B, G, L, D]` and `[B, G, L, E]`
      without. Their elements are f32 or of the type of the caches.
    - (C2) `key_cache` is `[slots, G, P, D, W]` with W a positive multiple of 16, `value_cache` is `[slots, G, C, E]`;
      G, D, W and E are static. Caches of i8 have D + 4 and E + 4 in the place of D and E, and W is a multiple of 64.
      Both caches have the same type of elements.
    - (N1) Elements are copied if the caches have the type of `key` and `value`, and rounded as above otherwise. In a
      cache of i8, a key or value with an infinity or NaN has the scale NaN and integers of 0.
    - (N2) The caller guarantees capacity: a new key whose number `past[b] + i` is at least `P * W` or at least C, or a
      slot that two sequences write, is undefined behavior.

    ```mlir
    %kc, %vc = xfmr.kv_cache_update %k, %v into %keys, %values at(%past) slots(%slots) offsets(%off)
        : tensor<?x2x12xf32>, tensor<?x2x12xf32>, tensor<?x2x?x12x64xf32>, tensor<?x2x?x12xf32>
    %kq, %vq = xfmr.kv_cache_update %k, %v into %keys8, %values8 at(%past) slots(%slots) offsets(%off)
        : tensor<?x2x12xf32>, tensor<?x2x12xf32>, tensor<?x2x?x16x64xi8>, tensor<?x2x?x16xi8>
    ```
  }];
  let arguments = (ins Xfmr_NewKeys:$key, Xfmr_NewKeys:$value, Xfmr_KeyCache:$key_cache, Xfmr_ValueCache:$value_cache, Xfmr_Lengths:$past,
                       Optional<Xfmr_Slots>:$slots, Optional<Xfmr_Offsets>:$offsets);
  let results = (outs Xfmr_KeyCache:$new_key_cache, Xfmr_ValueCache:$new_value_cache);
  let assemblyFormat = [{
    $key `,` $value `into` $key_cache `,` $value_cache `at` `(` $past `)` (`slots` `(` $slots^ `)`)? (`offsets` `(` $offsets^ `)`)?
    attr-dict
    `:` type($key) `,` type($value) `,` type($key_cache) `,` type($value_cache)
  }];
  let hasVerifier = 1;
}

def Xfmr_KvCacheReadOp : Xfmr_Op<"kv_cache_read", [Pure, InferTypeOpAdaptor]> {
  let summary = "copies the first `length` keys and values of each slot to dense tensors";
  let description = [{
    The result `key` is `[B, G, length, D]`, the result `value` is `[B, G, length, E]`: B slots, and G heads of D
    components of keys and E of values. For j < `length`, with `j / W` an integer division,
    `key[b, g, j, d] = key_cache[b, g, j / W, d, j mod W]` and `value[b, g, j, e] = value_cache[b, g, j, e]`.

    - (C1) `key_cache` is `[B, G, P, D, W]`, `value_cache` is `[B, G, C, E]`, with the same number G of heads and
      elements of one floating-point type, which the results have, too. A slot has P panels of W keys and room for C
      values. W is a positive multiple of 16; G, D, W and E are static.
    - (N1) Elements are copied. Those that were never written to the caches are unspecified; `length` must be at most C
      and at most `P * W`.

    ```mlir
    %k, %v = xfmr.kv_cache_read %keys, %values, %length : tensor<?x2x?x12x64xf32>, tensor<?x2x?x12xf32>   // two tensor<?x2x?x12xf32>
    ```
  }];
  let arguments = (ins Xfmr_KeyCache:$key_cache, Xfmr_ValueCache:$value_cache, Index:$length);
  let results = (outs 4DTensorOf<[Xfmr_Float]>:$key, 4DTensorOf<[Xfmr_Float]>:$value);
  let assemblyFormat = "$key_cache `,` $value_cache `,` $length attr-dict `:` type($key_cache) `,` type($value_cache)";
  let hasVerifier = 1;
}

def Xfmr_MaskCacheUpdateOp : Xfmr_Op<"mask_cache_update", [Pure, AllTypesMatch<["cache", "new_cache"]>]> {
  let summary = "appends the additive mask of new tokens to the mask cache, in place";
  let description = [{
    The cache has a row of mask elements for each slot, `[slots, capacity]`. Sequence b has the new tokens i from 0 to
    `offsets[b + 1] - offsets[b] - 1`. For each of them, `new_cache[slots[b], past[b] + i] = mask[b, i]`; without `mask`
    these elements become 0, which hides nothing. All other elements are those of `cache`, and the result is the memory
    of `cache`. `past[b]` is the number of tokens that the slot has. `mask` is `[B, L]` for sequences of up to L new
    tokens.

    - (N1) Elements are copied. The caller guarantees capacity: an element beyond the capacity, or a slot that two
      sequences write, is undefined behavior.

    ```mlir
    %new = xfmr.mask_cache_update %cache at(%past) slots(%slots) offsets(%off) mask(%mask : tensor<?x?xf32>) : tensor<?x?xf32>
    ```
  }];
  let arguments = (ins Xfmr_MaskCache:$cache, Xfmr_Lengths:$past, Xfmr_Slots:$slots, Xfmr_Offsets:$offsets,
                       Optional<2DTensorOf<[F32]>>:$mask);
  let results = (outs Xfmr_MaskCache:$new_cache);
  let assemblyFormat = [{
    $cache `at` `(` $past `)` `slots` `(` $slots `)` `offsets` `(` $offsets `)` (`mask` `(` $mask^ `:` type($mask) `)`)? attr-dict
    `:` type($cache)
  }];
}

def Xfmr_MaskCacheReadOp : Xfmr_Op<"mask_cache_read", [Pure]> {
  let summary = "gathers the additive mask of the first `length` keys of the listed slots";
  let description = [{
    `mask[b, j] = cache[slots[b], j]` for each of B sequences b and for j < `length`. The cache is `[slots, capacity]`,
    the result `mask` is `[B, length]`. `xfmr.attention` adds the result, its operand `mask`, to the scores.

    - (N1) Elements are copied. Those that were never written to the cache are unspecified; `length` must be at most the
      capacity.

    ```mlir
    %mask = xfmr.mask_cache_read %cache, %length slots(%slots) : tensor<?x?xf32>
    ```
  }];
  let arguments = (ins Xfmr_MaskCache:$cache, Index:$length, Xfmr_Slots:$slots);
  let results = (outs Xfmr_DynamicMask:$mask);
  let assemblyFormat = "$cache `,` $length `slots` `(` $slots `)` attr-dict `:` type($cache)";
}

#endif // XFMR_CACHE_OPS_TD
