//===- Schedule.cpp - Tile sizes and layouts ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Rt/IR/Schedule.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::rt;

static constexpr llvm::StringLiteral kStorageTypes[] = {"f32", "bf16", "i16", "i8"};

llvm::StringRef mlir::rt::stringifyStorageType(StorageType type) { return kStorageTypes[static_cast<unsigned>(type)]; }

std::optional<StorageType> mlir::rt::symbolizeStorageType(llvm::StringRef name) {
  const auto *found = llvm::find(kStorageTypes, name);
  if (found == std::end(kStorageTypes))
    return std::nullopt;
  return static_cast<StorageType>(found - kStorageTypes);
}

/// Returns the values of all fields, in order, as numbers.
static llvm::SmallVector<int64_t> getValues(const Schedule &schedule) {
  llvm::SmallVector<int64_t> values;
  visitFields(schedule, [&](llvm::StringRef, auto value, FieldRange) { values.push_back(static_cast<int64_t>(value)); });
  return values;
}

bool Schedule::operator==(const Schedule &other) const { return getValues(*this) == getValues(other); }

llvm::hash_code mlir::rt::hash_value(const Schedule &schedule) { return llvm::hash_combine_range(getValues(schedule)); }
