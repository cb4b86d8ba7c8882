//===- XfmrTypes.td - Type constraints of the xfmr dialect -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef XFMR_TYPES_TD
#define XFMR_TYPES_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/CommonTypeConstraints.td"

def Xfmr_Float : AnyTypeOf<[F32, F16, BF16]>;
/// Activations, `[tokens, features]`.
def Xfmr_Tokens : 2DTensorOf<[F32]>;
/// Activations split into heads, `[tokens, heads, head_dim]`. Elements are f32; only operands of attention may be bf16
/// or f16, after the phase `linalg` has rounded them.
def Xfmr_Heads : 3DTensorOf<[Xfmr_Float]>;
/// Rows of features: `[T, N]`, or `[T, H, D]` with one row per head.
def Xfmr_TokensOrHeads : RankedTensorOf<[F32], [HasAnyRankOfPred<[2, 3]>]>;
/// A weight matrix, `[out, in]`: a row for each output feature.
def Xfmr_Matrix : 2DTensorOf<[Xfmr_Float]>;
/// Stack of weight matrices, `[matrices, out, in]`.
def Xfmr_Stack : 3DTensorOf<[Xfmr_Float]>;
/// A weight matrix, or a stack of them.
def Xfmr_Matrices : RankedTensorOf<[Xfmr_Float], [HasAnyRankOfPred<[2, 3]>]>;
/// Int8 weight matrix, `[out, in]`, or a stack of them.
def Xfmr_QuantizedMatrices : RankedTensorOf<[I8], [HasAnyRankOfPred<[2, 3]>]>;
/// Weight vector.
def Xfmr_Vector : 1DTensorOf<[Xfmr_Float]>;
/// The type `tensor<?xi64>`. Operands and results of this constraint have no other type, so the assembly of an
/// operation omits their type.
class Xfmr_DynamicI64<string what> : Type<
    CPred<"$_self == ::mlir::RankedTensorType::get({::mlir::ShapedType::kDynamic}, ::mlir::IntegerType::get($_self.getContext(), 64))">,
    "tensor<?xi64> of " # what, "::mlir::RankedTensorType">,
    BuildableType<"::mlir::RankedTensorType::get({::mlir::ShapedType::kDynamic}, $_builder.getI64Type())">;
/// Token ids, `[tokens]`, or other integers, such as the positions of tokens.
def Xfmr_Ids : Xfmr_DynamicI64<"ids">;
/// The first token of each sequence, then the number of tokens: `[batch + 1]`.
def Xfmr_Offsets : Xfmr_DynamicI64<"offsets">;
/// The number of tokens of each sequence, `[batch]`.
def Xfmr_Lengths : Xfmr_DynamicI64<"lengths">;
/// The cache slot of each sequence, `[batch]`.
def Xfmr_Slots : Xfmr_DynamicI64<"slots">;
/// An attention mask, `[batch, key]`, `[batch, query, key]` or `[batch, heads, query, key]`. The elements of a mask of
/// f32 are added to the scores. A zero in a mask of i1 or i64 hides the key or, with the attribute `mask_fill`,
/// replaces the score by the number that the attribute holds (see `xfmr.attention`).
def Xfmr_Mask : RankedTensorOf<[F32, I1, I64], [HasAnyRankOfPred<[2, 3, 4]>]>;

/// Elements of caches of keys and values.
def Xfmr_CacheElement : AnyTypeOf<[F32, F16, BF16, I8]>;
/// A key cache, `[slots, kv_heads, panels, head_dim, width]`: component d of key j of head g of a slot is at
/// `[slot, g, j / width, d, j mod width]`, where `j / width` is an integer division. In a cache of i8, the dimension
/// head_dim is larger by 4: the last four rows of a panel hold the f32 scales of its keys (`xfmr.kv_cache_update`).
def Xfmr_KeyCache : RankedTensorOf<[Xfmr_CacheElement], [HasAnyRankOfPred<[5]>]>;
/// A value cache, `[slots, kv_heads, capacity, head_dim]`: the value of key j of head g of a slot is the row
/// `[slot, g, j]`. In a cache of i8, the dimension head_dim is larger by 4: the last four bytes of a row hold its f32
/// scale.
def Xfmr_ValueCache : 4DTensorOf<[Xfmr_CacheElement]>;
/// A mask cache, `[slots, capacity]`: for each key of a slot, a number that is added to the scores of the key.
def Xfmr_MaskCache : 2DTensorOf<[F32]>;
/// The keys or the values that attention reads: either tokens split into heads, `[tokens, kv_heads, size]`, or a cache.
def Xfmr_Keys : RankedTensorOf<[Xfmr_CacheElement], [HasAnyRankOfPred<[3, 5]>]>;
def Xfmr_Values : RankedTensorOf<[Xfmr_CacheElement], [HasAnyRankOfPred<[3, 4]>]>;

#endif // XFMR_TYPES_TD
