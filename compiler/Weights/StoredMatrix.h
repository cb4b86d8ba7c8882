//===- StoredMatrix.h - A matrix of a few bits as files store it -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The elements of a matrix that is stored quantized are
//
//     w[n, k] = scale[n, g] * (q[n, k] - zero[n, g])        g = the group of column k
//
// in f32, where q are the stored values. If a block of rows shares scales, the index of the block replaces n in scale
// and zero. zero is 0 for values of F8 and for matrices without zero points. The difference is exact, so an element is
// rounded at most once, and not at all if the scale is F16 or BF16.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_WEIGHTS_STOREDMATRIX_H
#define ATTUNE_COMPILER_WEIGHTS_STOREDMATRIX_H

#include "compiler/Support/Safetensors.h"

namespace attune {

/// The form in which a folder stores its quantized matrices, as its quantization settings say.
struct QuantizedFormat {
  enum Method { Gptq, Awq, CompressedTensors, BlockFloat8 };

  /// The number of bits of a value, and the size of a group.
  struct Groups {
    int bits;
    /// The number of columns of a row that share a scale; 0 for all columns.
    int64_t size;
  };

  Method method;
  /// One element for Gptq and Awq, none for BlockFloat8. For CompressedTensors, one element for each group of modules
  /// in the configuration; the shapes of a matrix's tensors determine which element applies to the matrix.
  std::vector<Groups> groups;
  /// Gptq: zero points are stored minus one.
  bool zerosMinusOne = false;
  /// CompressedTensors, BlockFloat8: the number of rows and of columns of a block with one scale; 0 if there are no
  /// blocks.
  int64_t blockRows = 0, blockColumns = 0;
};

/// One quantized matrix, whose elements `read` dequantizes. The tensors that store it are views of the open files;
/// |zeros| is null if there are no zero points.
class StoredMatrix {
public:
  enum Layout { GptqWords, AwqWords, RowWords, Bytes, Float8 };

  Layout layout = Bytes;
  int bits = 8;
  int64_t rows = 0, columns = 0;
  /// The number of neighboring columns with one scale, and the number of such groups in a row. |groupSize| is not used
  /// if |groupOf| is not empty.
  int64_t groupSize = 0, groups = 1;
  /// The group of each column, if groups are not neighboring columns; otherwise empty.
  std::vector<int32_t> groupOf;
  /// The number of neighboring rows that share the scales of their groups.
  int64_t scaleRows = 1;
  bool zerosMinusOne = false;
  const TensorView *codes = nullptr, *scales = nullptr, *zeros = nullptr;

  /// Writes elements |column| … |column| + |count| - 1 of |row| to |out|.
  void read(int64_t row, int64_t column, int64_t count, float *out) const;

private:
  float scaleOf(int64_t row, int64_t group) const;
  int zeroOf(int64_t row, int64_t group) const;
  /// Returns the zero point of |row|. |line| is the first of the words with the zero points of the group.
  int gptqZeroOf(int64_t row, const uint8_t *line) const;
  template <typename Code>
  void dequantize(int64_t row, int64_t column, int64_t count, float *out, Code code) const;
};

/// Returns the matrix `NAME.weight` of |folder|, where |name| is NAME and |values| has its quantized values. Derives its
/// layout from the types and shapes of the tensors that store it: values, scales, zero points, groups of columns. Fails
/// if the folder lacks one of them, or if one has a type or shape that |format| does not allow.
Result<StoredMatrix> findStoredMatrix(const SafetensorsFolder &folder, const QuantizedFormat &format, const std::string &name,
                                      const TensorView &values);

} // namespace attune

#endif // ATTUNE_COMPILER_WEIGHTS_STOREDMATRIX_H
