//===- CalibratedRows.cpp - Rows of weights quantized in advance ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Weights/CalibratedRows.h"
#include "llvm/Support/xxhash.h"

using namespace attune;

CalibratedRows::Key CalibratedRows::keyOf(llvm::ArrayRef<float> weights) {
  llvm::XXH128_hash_t hash = llvm::xxh3_128bits({reinterpret_cast<const uint8_t *>(weights.data()), weights.size() * sizeof(float)});
  // llvm::DenseMap reserves the largest two values of an integer as keys.
  return {hash.high64 >> 1, hash.low64};
}

void CalibratedRows::add(llvm::ArrayRef<float> row, llvm::ArrayRef<QuantizedGroup> groups, llvm::ArrayRef<int16_t> values) {
  if (!places.try_emplace(keyOf(row), numbers.size(), integers.size()).second)
    return;
  numbers.insert(numbers.end(), groups.begin(), groups.end());
  auto stored = [&](size_t k) { return static_cast<uint8_t>(k < values.size() ? values[k] + format.zero() : 0); };
  for (size_t k = 0; k < values.size(); k += format.bits == 4 ? 2 : 1)
    integers.push_back(static_cast<uint8_t>(format.bits == 4 ? stored(k) | stored(k + 1) << 4 : stored(k)));
}

bool CalibratedRows::find(llvm::ArrayRef<float> row, float *weights, QuantizedGroup *groups) const {
  auto found = places.find(keyOf(row));
  if (found == places.end())
    return false;
  auto columns = static_cast<int64_t>(row.size()), group = format.groupColumns(columns);
  const QuantizedGroup *number = &numbers[found->second.first];
  const uint8_t *integer = &integers[found->second.second];
  std::copy_n(number, format.groups(columns), groups);
  for (int64_t k = 0; k < columns; ++k) {
    int64_t stored = format.bits == 4 ? integer[k / 2] >> (k % 2 * 4) & 15 : integer[k];
    const QuantizedGroup &of = number[k / group];
    weights[k] = of.scale * static_cast<float>(stored - format.zero()) + of.minimum;
  }
  return true;
}
