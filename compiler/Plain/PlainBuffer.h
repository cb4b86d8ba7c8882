//===- PlainBuffer.h - A tensor of a reference function -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A strided view of memory with checked indices. An access with an index outside of its dimension is recorded as a
// fault of the run; it reads 0 or writes nothing, so that a wrong index does not crash the process.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PLAIN_PLAINBUFFER_H
#define ATTUNE_COMPILER_PLAIN_PLAINBUFFER_H

#include "mlir/IR/Types.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>

namespace attune {

/// The types of elements that the plain path computes with.
enum class ElementKind : uint8_t { F32, F64, BF16, F16, I64, I32, I16, I8, I1 };

/// Returns true if elements of |kind| are floats.
inline bool isFloat(ElementKind kind) { return kind <= ElementKind::F16; }
/// Returns |value| rounded to bf16, to nearest, ties to even.
float roundToBf16(float value);
/// toHalf() returns the bits of |value| rounded to f16, to nearest, ties to even. fromHalf() returns the value of the
/// f16 with the given |bits|.
uint16_t toHalf(float value);
float fromHalf(uint16_t bits);

/// Returns the kind of elements of |type|: F64 for f32 if |wide|, I64 for index; nullopt for a type that the plain path
/// does not support.
std::optional<ElementKind> getElementKind(mlir::Type type, bool wide);
/// Returns the size of an element of |kind| in bytes.
int64_t getElementBytes(ElementKind kind);

/// The first error of a run.
struct FaultLog {
  std::string first;
  void add(std::string message) {
    if (first.empty())
      first = std::move(message);
  }
};

/// A strided view of memory: |data| is the address of the element whose indices are all 0, and strides are in elements.
/// |data| is null for an absent operand. Errors are not recorded if |faults| is null.
struct PlainBuffer {
  char *data = nullptr;
  ElementKind kind = ElementKind::F32;
  llvm::SmallVector<int64_t, 5> sizes, strides;
  FaultLog *faults = nullptr;
  /// The name of the operation whose operand or result this is, for messages.
  llvm::StringRef owner;

  bool present() const { return data != nullptr; }
  int64_t rank() const { return static_cast<int64_t>(sizes.size()); }
  int64_t size(int64_t dim) const { return sizes[dim]; }
  int64_t elements() const;

  template <typename T>
  T get(llvm::ArrayRef<int64_t> indices) const {
    const char *at = address(indices);
    return at ? load<T>(at) : T(0);
  }
  template <typename T>
  T get(std::initializer_list<int64_t> indices) const {
    return get<T>(llvm::ArrayRef<int64_t>(indices.begin(), indices.size()));
  }
  template <typename T>
  void set(llvm::ArrayRef<int64_t> indices, T value) const {
    if (char *at = address(indices))
      store(at, value);
  }
  template <typename T>
  void set(std::initializer_list<int64_t> indices, T value) const {
    set<T>(llvm::ArrayRef<int64_t>(indices.begin(), indices.size()), value);
  }
  /// Returns the indices of the element with the number |number| in row-major order.
  llvm::SmallVector<int64_t, 5> indicesOf(int64_t number) const;

private:
  /// Returns the address of the element at |indices|. If an index is outside of its dimension, records a fault and
  /// returns null.
  char *address(llvm::ArrayRef<int64_t> indices) const {
    int64_t offset = 0;
    for (size_t dim = 0; dim < indices.size(); ++dim) {
      if (indices[dim] < 0 || indices[dim] >= sizes[dim])
        return reportIndex(dim, indices[dim]);
      offset += indices[dim] * strides[dim];
    }
    return data + offset * getElementBytes(kind);
  }
  char *reportIndex(size_t dim, int64_t index) const;
  template <typename T>
  T load(const char *at) const {
    switch (kind) {
    case ElementKind::F32:
      return static_cast<T>(*reinterpret_cast<const float *>(at));
    case ElementKind::F64:
      return static_cast<T>(*reinterpret_cast<const double *>(at));
    case ElementKind::BF16: {
      uint16_t half;
      std::memcpy(&half, at, sizeof(half));
      uint32_t bits = uint32_t(half) << 16;
      float number;
      std::memcpy(&number, &bits, sizeof(number));
      return static_cast<T>(number);
    }
    case ElementKind::F16: {
      uint16_t half;
      std::memcpy(&half, at, sizeof(half));
      return static_cast<T>(fromHalf(half));
    }
    case ElementKind::I64:
      return static_cast<T>(*reinterpret_cast<const int64_t *>(at));
    case ElementKind::I32:
      return static_cast<T>(*reinterpret_cast<const int32_t *>(at));
    case ElementKind::I16:
      return static_cast<T>(*reinterpret_cast<const int16_t *>(at));
    case ElementKind::I8:
      return static_cast<T>(*reinterpret_cast<const int8_t *>(at));
    case ElementKind::I1:
      return static_cast<T>(*at & 1);
    }
    return T(0);
  }
  template <typename T>
  void store(char *at, T value) const {
    switch (kind) {
    case ElementKind::F32:
      *reinterpret_cast<float *>(at) = static_cast<float>(value);
      return;
    case ElementKind::F64:
      *reinterpret_cast<double *>(at) = static_cast<double>(value);
      return;
    case ElementKind::BF16: {
      float rounded = roundToBf16(static_cast<float>(value));
      uint32_t bits;
      std::memcpy(&bits, &rounded, sizeof(bits));
      auto half = static_cast<uint16_t>(bits >> 16);
      std::memcpy(at, &half, sizeof(half));
      return;
    }
    case ElementKind::F16: {
      uint16_t half = toHalf(static_cast<float>(value));
      std::memcpy(at, &half, sizeof(half));
      return;
    }
    case ElementKind::I64:
      *reinterpret_cast<int64_t *>(at) = static_cast<int64_t>(value);
      return;
    case ElementKind::I32:
      *reinterpret_cast<int32_t *>(at) = static_cast<int32_t>(value);
      return;
    case ElementKind::I16:
      *reinterpret_cast<int16_t *>(at) = static_cast<int16_t>(value);
      return;
    case ElementKind::I8:
      *reinterpret_cast<int8_t *>(at) = static_cast<int8_t>(value);
      return;
    case ElementKind::I1:
      *at = value != T(0);
      return;
    }
  }
};

} // namespace attune

#endif // ATTUNE_COMPILER_PLAIN_PLAINBUFFER_H
