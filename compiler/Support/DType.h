//===- DType.h - Element types of safetensors files -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The element types of safetensors files that the readers accept, and conversions of runs of elements to float and
// int64, the two types that the tools compute with.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_DTYPE_H
#define ATTUNE_COMPILER_SUPPORT_DTYPE_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attune {

/// An element type, under its safetensors name.
enum class DType : uint8_t { F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8, BOOL, F8_E4M3, F8_E5M2 };

/// Returns the safetensors name of |dtype|, such as "F32".
const char *dtypeName(DType dtype);
/// Returns the type with this safetensors name; nullopt if there is none.
std::optional<DType> parseDType(std::string_view name);
/// Returns the size of one element of |dtype| in bytes.
size_t elementSize(DType dtype);
/// Returns true if convertToF32 accepts the type, one of kFloatNames.
bool isFloat(DType dtype);
/// The types for which isFloat is true, for error messages.
inline constexpr const char *kFloatNames = "F32, F16, BF16 or F64";
/// Returns true if convertToI64 accepts the type: signed and unsigned integers and BOOL.
bool isInteger(DType dtype);

/// Returns the text of a shape, such as "[2, 3]".
std::string shapeText(const std::vector<int64_t> &shape);
/// Returns the number of elements of a tensor of this shape; nullopt if an extent is negative or the number exceeds
/// 2^62.
std::optional<int64_t> elementCount(const std::vector<int64_t> &shape);
/// Returns the sum of |sizes|; nullopt if it exceeds the range of int64.
std::optional<int64_t> sumSizes(const std::vector<int64_t> &sizes);

/// Converts elements |begin| … |begin| + |count| - 1 of |data| to float: rounds F64 to nearest and widens the other
/// float types. |data| need not be aligned.
void convertToF32(DType dtype, const uint8_t *data, int64_t begin, int64_t count, float *out);
/// Widens integer elements |begin| … |begin| + |count| - 1 of |data|, which need not be aligned, to int64. U64 values
/// above the range of int64 wrap, and a BOOL that is not 0 becomes 1.
void convertToI64(DType dtype, const uint8_t *data, int64_t begin, int64_t count, int64_t *out);

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_DTYPE_H
