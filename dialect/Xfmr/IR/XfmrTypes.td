//===- XfmrTypes.td - Type constraints of the xfmr dialect -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef XFMR_TYPES_TD
#define XFMR_TYPES_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/CommonTypeConstraints.td"

/// Activations: `[tokens, features]` in f32, bf16 or f16.
def Xfmr_Float : AnyTypeOf<[F32, F16, BF16]>;
def Xfmr_Tokens : 2DTensorOf<[Xfmr_Float]>;
/// `[tokens, heads, head_dim]`.
def Xfmr_Heads : 3DTensorOf<[Xfmr_Float]>;
/// Weight matrix `[out, in]`.
def Xfmr_Matrix : 2DTensorOf<[Xfmr_Float]>;
/// Weight matrix of codes.
def Xfmr_QuantizedMatrix : 2DTensorOf<[I8]>;
/// Weight vector.
def Xfmr_Vector : 1DTensorOf<[Xfmr_Float]>;
/// `tensor<?xi64>`, the only type of ids and offsets, so that assembly need not repeat it.
class Xfmr_DynamicI64<string what> : Type<
    CPred<"$_self == ::mlir::RankedTensorType::get({::mlir::ShapedType::kDynamic}, ::mlir::IntegerType::get($_self.getContext(), 64))">,
    "tensor<?xi64> of " # what, "::mlir::RankedTensorType">,
    BuildableType<"::mlir::RankedTensorType::get({::mlir::ShapedType::kDynamic}, $_builder.getI64Type())">;
/// Token ids, `[tokens]`.
def Xfmr_Ids : Xfmr_DynamicI64<"ids">;
/// First token of each sequence and the number of tokens, `[batch + 1]`.
def Xfmr_Offsets : Xfmr_DynamicI64<"offsets">;
/// Tokens of each sequence, `[batch]`.
def Xfmr_Lengths : Xfmr_DynamicI64<"lengths">;
/// Where each sequence of a call is in a cache, `[batch]`.
def Xfmr_Slots : Xfmr_DynamicI64<"slots">;
/// `[batch, key]`, `[batch, query, key]` or `[batch, heads, query, key]`; f32 is added to the scores, i1 and i64 are visible where not 0.
def Xfmr_Mask : RankedTensorOf<[F32, I1, I64], [HasAnyRankOfPred<[2, 3, 4]>]>;

/// Keys of a cache, `[slots, kv_heads, panels, head_dim, width]`: component d of key j of a slot is at `[slot, g, j / width, d, j mod width]`.
def Xfmr_KeyCache : RankedTensorOf<[Xfmr_Float], [HasAnyRankOfPred<[5]>]>;
/// Values of a cache, `[slots, kv_heads, capacity, value_dim]`.
def Xfmr_ValueCache : 4DTensorOf<[Xfmr_Float]>;
/// What is added to the scores of the keys of a cache, `[slots, capacity]`.
def Xfmr_MaskCache : 2DTensorOf<[F32]>;
/// What attention reads: `[tokens, kv_heads, size]`, or a cache.
def Xfmr_Keys : RankedTensorOf<[Xfmr_Float], [HasAnyRankOfPred<[3, 5]>]>;
def Xfmr_Values : RankedTensorOf<[Xfmr_Float], [HasAnyRankOfPred<[3, 4]>]>;

#endif // XFMR_TYPES_TD
