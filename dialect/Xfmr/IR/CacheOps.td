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
  let summary = "appends the keys and values of new tokens to a key cache and a value cache, in place";
  let description = [{
    A cache has slots, each for one sequence. With P panels of W keys and room for C values in a slot, key j of head g
    of a slot is `key_cache[slot, g, j / W, :, j mod W]`, where `j / W` is an integer division, and its value is
    `value_cache[slot, g, j, :]`. There are G heads; a key has D components, a value E.

    New key i of sequence b becomes key `past[b] + i` of slot `slots[b]`, or of slot b without `slots`; new value i
    becomes the value of that key. `past[b]` is the number of keys that the slot has before. If `key` is `[T, G, D]`,
    the keys of all sequences one after the other, new key i is `key[offsets[b] + i, :, :]`, for i from 0 to
    `offsets[b + 1] - offsets[b] - 1`. If `key` is `[B, G, L, D]`, L keys for each of B sequences, new key i is
    `key[b, :, i, :]`, for i from 0 to L - 1. `value` has the same layout. All other elements of the caches are
    unchanged, except that the keys after the new ones in the last panel that is written for a slot and head may become
    0; readers ignore them.

    The operation consumes its cache operands: the results are the same memory. Later operations read the results, not
    the operands.

    Caches of f32 hold the elements of `key` and `value`; caches of bf16 and f16 hold these elements rounded to nearest,
    ties to even. In f16, an element of magnitude 65520 or more becomes infinite. Caches of i8 hold integers and, for
    each key and each value of a head, an f32 scale. With m the largest magnitude of the components x[d] of a key or a
    value:

        scale = m / 127,  integer[d] = round(x[d] * (127 / m))          scale and integers are 0 if m < 2^-119

    where `round` rounds to nearest, ties to even. The scale of value j is the bytes E to E + 3 of its row. The scales
    of the W keys of a panel are one after the other in the last four rows of the panel, taken as one row of `4 * W`
    bytes: the scale of key j is the bytes `4 * (j mod W)` to `4 * (j mod W) + 3`. Scales have the byte order of the
    machine.

        panel of keys of i8, W = 64                                  row of a value of i8
        row 0      | key 0 | key 1 | ...             | key 63 |      | component 0 | ... | component E - 1 | scale: 4 bytes |
        ...
        row D - 1  |       |       |                 |        |
        row D      | scale of key 0: 4 bytes | ... | of key 15 |
        row D + 1  | scale of key 16         | ... | of key 31 |
        row D + 2  ...

    - (C1) `key` and `value` are `[T, G, D]` and `[T, G, E]`, with `offsets`; or they are `[B, G, L, D]` and
      `[B, G, L, E]`, without `offsets`. The elements of each are f32 or, unless the caches are of i8, have the type of
      the elements of the caches.
    - (C2) `key_cache` is `[slots, G, P, D, W]` with W a positive multiple of 16, `value_cache` is `[slots, G, C, E]`;
      G, D, W and E are static. In caches of i8, the sizes D and E are D + 4 and E + 4 instead, for the scales, and W is
      a multiple of 64. Both caches have the same type of elements.
    - (N1) Elements are copied if the caches have their type, and otherwise rounded or quantized as above. In a cache of
      i8, a key or value with an infinity or NaN has the scale NaN and integers of 0.
    - (N2) Behavior is undefined if the number `past[b] + i` of a new key is at least `P * W` or at least C, if
      `slots[b]` is not the number of a slot, or if two sequences have the same slot. The runtime checks all of this
      before it calls an entry.

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
    The result `key` is `[B, G, length, D]`, the result `value` is `[B, G, length, E]`, for the B slots of the caches
    and G heads with keys of D and values of E components. For j < `length`, with `j / W` an integer division,
    `key[b, g, j, d] = key_cache[b, g, j / W, d, j mod W]` and `value[b, g, j, e] = value_cache[b, g, j, e]`.

    - (C1) `key_cache` is `[B, G, P, D, W]`, `value_cache` is `[B, G, C, E]`: a slot has P panels of W keys and room for
      C values. W is a positive multiple of 16; G, D, W and E are static. Both caches have elements of the same
      floating-point type, which is also that of the results.
    - (N1) Elements are copied; an element that was never written to its cache is unspecified. A `length` above C or
      above `P * W` is undefined behavior.

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
    `cache` is `[slots, capacity]`: a slot has an element for each of its tokens, which `xfmr.attention` adds to the
    scores of the token's key. Sequence b has the new tokens i from 0 to `offsets[b + 1] - offsets[b] - 1`. For each of
    them, `new_cache[slots[b], past[b] + i] = mask[b, i]`, where `past[b]` is the number of tokens that the slot has
    before, and `mask` is `[B, L]` for B sequences of up to L new tokens. Without `mask`, these elements become 0, which
    hides nothing. All other elements are those of `cache`.

    The operation consumes `cache`: the result is the same memory. Later operations read the result, not the operand.

    - (N1) Elements are copied. Behavior is undefined if the number `past[b] + i` of a new token is at least the
      capacity, or if two sequences have the same slot. The runtime checks both before it calls an entry.

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
    the result is `[B, length]`. The result is an operand `mask` of `xfmr.attention`, which adds it to the scores.

    - (N1) Elements are copied; an element that was never written to the cache is unspecified. A `length` above the
      capacity is undefined behavior.

    ```mlir
    %mask = xfmr.mask_cache_read %cache, %length slots(%slots) : tensor<?x?xf32>
    ```
  }];
  let arguments = (ins Xfmr_MaskCache:$cache, Index:$length, Xfmr_Slots:$slots);
  let results = (outs Xfmr_DynamicMask:$mask);
  let assemblyFormat = "$cache `,` $length `slots` `(` $slots `)` attr-dict `:` type($cache)";
}

#endif // XFMR_CACHE_OPS_TD
