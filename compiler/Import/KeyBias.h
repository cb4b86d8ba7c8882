//===- KeyBias.h - ALiBi by the number of visible keys ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// ALiBi lowers the score of a query and a key by a slope times their distance. In BLOOM and Falcon, only visible keys,
// those that the mask does not hide, count in distances. They add `slope * n` to the score of a key with n visible keys
// before it. For all keys of a query, this exceeds minus the slope times the distance by the same amount, which does
// not change the softmax. As the term does not depend on the query, the mask can carry it: the mask becomes
// `[B, H, 1, K]`, for B sequences, H heads and K keys.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_KEYBIAS_H
#define ATTUNE_IMPORT_KEYBIAS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attune {

class KeyBias {
public:
  /// |slopes| `[H]` has a slope for each head.
  KeyBias(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value slopes) : b(loc, builder), slopes(slopes) {}

  /// Emits `mask[b, k] - slopes[h] * s[b, k]` as `[B, H, 1, K]`, for |mask| `[B, K]`. The term corrects a distance bias
  /// that counts all keys: s[b, k] is the number of hidden keys between the first visible key of sequence b and key k.
  /// It is 0 for all visible keys if these are side by side.
  mlir::Value addSkipped(mlir::Value mask);
  /// Emits `mask[b, k] + factor * round(slopes[h] * round(n[b, k]))` as `[B, H, 1, K]`, where n[b, k] is the number of
  /// visible keys of sequence b before key k, and `round` rounds to bf16. If |mask| is null, all of |length| keys are
  /// visible in every sequence, and B is 1.
  mlir::Value addRounded(mlir::Value mask, mlir::Value length, double factor);

private:
  /// A function that emits, in the body of a linalg operation, the term for a number of keys and a slope, both f32.
  using TermBody = llvm::function_ref<mlir::Value(mlir::OpBuilder &inner, mlir::Location loc, mlir::Value number, mlir::Value slope)>;
  /// Emits `mask[b, k] + term(numbers[b, k], slopes[h])` as `[B, H, 1, K]`; a null |mask| counts as zeros.
  mlir::Value combine(mlir::Value mask, mlir::Value numbers, TermBody term);

  mlir::ImplicitLocOpBuilder b;
  mlir::Value slopes;
};

} // namespace attune

#endif // ATTUNE_IMPORT_KEYBIAS_H
