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
/// Activations split into heads, `[tokens, heads, head_dim]`. Elements are bf16 or f16 only where the phase `linalg`
/// has rounded the operands of attention.
def Xfmr_Heads : 3DTensorOf<[Xfmr_Float]>;
/// Rows of features: `[T, N]`, or `[T, H, D]` with one row per head.
def Xfmr_TokensOrHeads : RankedTensorOf<[F32], [HasAnyRankOfPred<[2, 3]>]>;
/// Weight matrix `[out, in]`.
def Xfmr_Matrix : 2DTensorOf<[Xfmr_Float]>;
/// Stack of weight matrices, `[matrices, out, in]`.
def Xfmr_Stack : 3DTensorOf<[Xfmr_Float]>;
/// A weight matrix, or a stack of them.
def Xfmr_Matrices : RankedTensorOf<[Xfmr_Float], [HasAnyRankOfPred<[2, 3]>]>;
/// Int8 weight matrix, `[out, in]`, or a stack of them.
def Xfmr_QuantizedMatrices : RankedTensorOf<[I8], [HasAnyRankOfPred<[2, 3]>]>;
/// Weight vector.
def Xfmr_Vector : 1DTensorOf<[Xfmr_Float]>;
/// `tensor<?xi64>`. Operands and results of this constraint have no other type, so the assembly of operations omits the
/// type.
class Xfmr_DynamicI64<string what> : Type<
    CPred<"$_self == ::mlir::RankedTensorType::get({::mlir::ShapedType::kDynamic}, ::mlir::IntegerType::get($_self.getContext(), 64))">,
    "tensor<?xi64> of " # what, "::mlir::RankedTensorType">,
    BuildableType<"::mlir::RankedTensorType::get({::mlir::ShapedType::kDynamic}, $_builder.getI64Type())">;
/// Token ids, `[tokens]`.
def Xfmr_Ids : Xfmr_DynamicI64<"ids">;
/// First token of each sequence, then the number of tokens: `[batch + 1]`.
def Xfmr_Offsets : Xfmr_DynamicI64<"offsets">;
/// Number of tokens of each sequence, `[batch]`.
def Xfmr_Lengths : Xfmr_DynamicI64<"lengths">;
/// Cache slot of each sequence, `[batch]`.
def Xfmr_Slots : Xfmr_DynamicI64<"slots">;
/// Attention mask: `[batch, key]`, `[batch, query, key]` or `[batch, heads, query, key]`. A mask of f32 is added to the
/// scores; where a mask of i1 or i64 is 0, it hides the key or, with the attribute `mask_fill`, replaces the score by
/// that number (see `xfmr.attention`).
def Xfmr_Mask : RankedTensorOf<[F32, I1, I64], [HasAnyRankOfPred<[2, 3, 4]>]>;

/// Elements of caches of keys and values.
def Xfmr_CacheElement : AnyTypeOf<[F32, F16, BF16, I8]>;
/// Key cache, `[slots, kv_heads, panels, head_dim, width]`: component d of key j of head g of a slot is at
/// `[slot, g, j / width, d, j mod width]`, where `j / width` is an integer division. A cache of i8 has four more
/// components, which hold scales (`xfmr.kv_cache_update`).
def Xfmr_KeyCache : RankedTensorOf<[Xfmr_CacheElement], [HasAnyRankOfPred<[5]>]>;
/// Value cache, `[slots, kv_heads, capacity, head_dim]`: the value of key j of head g of a slot is the row
/// `[slot, g, j]`. A cache of i8 has four more components, which hold scales.
def Xfmr_ValueCache : 4DTensorOf<[Xfmr_CacheElement]>;
/// Mask cache, `[slots, capacity]`: for each key of a slot, a number that is added to its scores.
def Xfmr_MaskCache : 2DTensorOf<[F32]>;
/// Keys, and below values, that attention reads: tokens split into heads, `[tokens, kv_heads, size]`, or a cache.
def Xfmr_Keys : RankedTensorOf<[Xfmr_CacheElement], [HasAnyRankOfPred<[3, 5]>]>;
def Xfmr_Values : RankedTensorOf<[Xfmr_CacheElement], [HasAnyRankOfPred<[3, 4]>]>;

#endif // XFMR_TYPES_TD
