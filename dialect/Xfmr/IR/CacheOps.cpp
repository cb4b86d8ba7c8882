//===- CacheOps.cpp - Verifiers and types of operations on caches ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/XfmrOps.h"

using namespace mlir;
using namespace mlir::xfmr;

/// Checks the shapes and element types of a key cache |keys| and its value cache |values|: the constraints C2 of
/// kv_cache_update and C1 of kv_cache_read. The caller checks that kv_cache_read has floating-point elements.
static LogicalResult verifyCaches(Operation *op, RankedTensorType keys, RankedTensorType values) {
  for (int64_t dim : {1, 3, 4})
    if (keys.isDynamicDim(dim))
      return op->emitOpError("expects a key cache whose heads, head size and panel width are static, but got ") << keys;
  if (keys.getDimSize(4) == 0 || keys.getDimSize(4) % 16 != 0)
    return op->emitOpError("expects a panel width that is a positive multiple of 16, but got ") << keys;
  if (values.isDynamicDim(1) || values.isDynamicDim(3))
    return op->emitOpError("expects a value cache whose heads and head size are static, but got ") << values;
  if (values.getDimSize(1) != keys.getDimSize(1))
    return op->emitOpError("expects a value cache of ") << keys.getDimSize(1) << " heads, as the key cache, but got " << values;
  if (keys.getElementType() != values.getElementType())
    return op->emitOpError("expects caches of one type of elements, but got ") << keys << " and " << values;
  for (auto [type, dim] : {std::pair(keys, 3), std::pair(values, 3)})
    if (getHeadSize(type, dim) < 1)
      return op->emitOpError("expects heads of at least one component, but got ") << type;
  if (keys.getElementType().isInteger(8) && keys.getDimSize(4) % 64 != 0)
    return op->emitOpError("expects a panel width that is a multiple of 64 for i8, but got ") << keys;
  return success();
}

/// Checks that |type|, the type of the operand |name|, `[T, G, N]` or `[B, G, L, N]`, has |heads| heads G of |size|
/// components N.
static LogicalResult verifyHeads(Operation *op, RankedTensorType type, StringRef name, int64_t heads, int64_t size) {
  if (type.getDimSize(1) == heads && type.getShape().back() == size)
    return success();
  return op->emitOpError("expects '") << name << "' of " << heads << " heads of size " << size << ", as its cache, but got " << type;
}

LogicalResult KvCacheUpdateOp::verify() {
  auto key = getKey().getType(), value = getValue().getType();
  auto keys = getKeyCache().getType(), values = getValueCache().getType();
  if (failed(verifyCaches(*this, keys, values))) // C2
    return failure();
  if (key.getRank() != value.getRank()) // C1
    return emitOpError("expects 'key' and 'value' of one rank, but got ") << key << " and " << value;
  if ((key.getRank() == 3) != bool(getOffsets()))
    return emitOpError(key.getRank() == 3 ? "expects 'offsets' for keys of tokens" : "expects no 'offsets' for keys of sequences")
           << ", " << key;
  for (auto [type, cache] : {std::pair(key, keys), std::pair(value, values)})
    if (Type element = type.getElementType(); !element.isF32() && element != cache.getElementType())
      return emitOpError("expects 'key' and 'value' of f32 or of the type of the caches, but got ") << type << " for " << cache;
  if (failed(verifyHeads(*this, key, "key", keys.getDimSize(1), getHeadSize(keys, 3))))
    return failure();
  return verifyHeads(*this, value, "value", values.getDimSize(1), getHeadSize(values, 3));
}

LogicalResult KvCacheReadOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto keys = cast<RankedTensorType>(adaptor.getKeyCache().getType()), values = cast<RankedTensorType>(adaptor.getValueCache().getType());
  types.push_back(keys.clone({keys.getDimSize(0), keys.getDimSize(1), ShapedType::kDynamic, keys.getDimSize(3)}));
  types.push_back(values.clone({values.getDimSize(0), values.getDimSize(1), ShapedType::kDynamic, values.getDimSize(3)}));
  return success();
}

LogicalResult KvCacheReadOp::verify() {
  RankedTensorType keys = getKeyCache().getType();
  if (!isa<FloatType>(keys.getElementType())) // C1
    return emitOpError("expects caches of a floating-point type, but got ") << keys;
  return verifyCaches(*this, keys, getValueCache().getType());
}
