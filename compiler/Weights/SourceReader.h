//===- SourceReader.h - Elements of weight source expressions ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluates any slice of a weight source into strided memory. A source is an attribute that says how a weight is
// computed from tensors of the model folder. Every kind of source maps a slice to slices of its operands with other
// strides, down to runs of stored tensors. So little more than the slice is in memory, and a transposition is a change
// of strides. Sources that compute with whole rows, such as the scales of rows, read a few rows of their operand at a
// time. Projected rows (`#xfmr.project`), the products of the rows of a table with a matrix, are computed as a whole.
// Elements are f32 for all element types: f32 represents bf16, f16 and i8 exactly, and sums of i8 over fewer than 2^17
// columns as well.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_WEIGHTS_SOURCEREADER_H
#define ATTUNE_WEIGHTS_SOURCEREADER_H

#include "compiler/Weights/TensorProvider.h"
#include "dialect/Xfmr/IR/XfmrOps.h"

#include <set>

namespace attune {

class CalibratedRows;

/// A slice of a tensor and its destination. Strides are in elements. Element i of the slice (i is a vector of indices)
/// is element `offsets + i` of the tensor and is written to `out[sum(i * strides)]`.
struct SourceBox {
  llvm::SmallVector<int64_t, 4> offsets, sizes, strides;
  float *out;

  /// Returns the slice with these offsets and sizes, stored densely at |out|.
  static SourceBox dense(llvm::ArrayRef<int64_t> offsets, llvm::ArrayRef<int64_t> sizes, float *out);
  bool empty() const { return llvm::is_contained(sizes, 0); }
};

/// A function that writes elements |begin| … |begin| + |count| - 1 of a table of |type|, in row-major order, to |out|.
/// A table, such as the cosines and sines of rotary embeddings, is a source `#xfmr.computed`, a formula with the
/// parameters |params|. The function fails if a parameter is missing or wrong, or if |type| does not suit the formula.
using ComputedTableFn = Status (*)(mlir::DictionaryAttr params, mlir::RankedTensorType type, int64_t begin, int64_t count, float *out);
/// Returns the function that computes tables of |kind|, such as "rotary", or null if this compiler has none.
ComputedTableFn findComputedTable(llvm::StringRef kind);

/// A reader of weight sources over the tensors of one provider. |rank| is the number of the process whose weights are
/// read, if the model is divided among several processes; else 0. Not thread-safe.
class SourceReader {
public:
  /// Creates a reader that quantizes rows in |calibrated| with the integers of the calibration. |calibrated| has at
  /// most one element for each format; |tensors| and |calibrated| must outlive the reader.
  explicit SourceReader(const TensorProvider &tensors, int64_t rank = 0, llvm::ArrayRef<CalibratedRows> calibrated = {})
      : tensors(tensors), rank(rank), calibrated(calibrated) {}

  /// Returns a reader of the same tensors with the same rank and calibrated rows, for another thread.
  SourceReader another() const { return SourceReader(tensors, rank, calibrated); }
  /// Checks that every tensor that |source| names exists with the stated shape and a float type, that every table is
  /// one that this compiler computes, and that every sharded source has a shard for the rank.
  Status verify(mlir::Attribute source) const;
  /// Evaluates the slice |box| of |source|, which has passed verify. Fails if a tensor cannot be read, or if a finite
  /// weight or its scale exceeds the range of the type in which it is stored.
  Status read(mlir::Attribute source, SourceBox box);
  /// Returns true if |source| is quantized panels or a stack of these, which readBytes can read.
  static bool isBytes(mlir::Attribute source);
  /// Writes a slice of |source|, for which isBytes is true and which has passed verify, as bytes to |out|, densely. The
  /// slice must have the whole last dimension.
  Status readBytes(mlir::Attribute source, llvm::ArrayRef<int64_t> offsets, llvm::ArrayRef<int64_t> sizes, uint8_t *out);
  /// Adds the names of |other|.nonFinite() to those of this reader.
  void addNonFinite(const SourceReader &other) { nonFiniteNames.insert(other.nonFiniteNames.begin(), other.nonFiniteNames.end()); }
  /// Returns the names of the tensors in which a value read so far was infinite or NaN.
  const std::set<std::string, std::less<>> &nonFinite() const { return nonFiniteNames; }

private:
  /// A function that writes the elements |begin| … |begin| + |count| - 1 of a source, in row-major order, to |out|.
  using RunFn = llvm::function_ref<Status(int64_t begin, int64_t count, float *out)>;
  Status readRuns(llvm::ArrayRef<int64_t> shape, const SourceBox &box, RunFn run);
  Status readTensor(mlir::xfmr::TensorSourceAttr source, const SourceBox &box);
  Status readConcat(mlir::xfmr::ConcatSourceAttr source, const SourceBox &box);
  Status readStack(mlir::xfmr::StackSourceAttr source, const SourceBox &box);
  Status readSelect(mlir::xfmr::SelectSourceAttr source, const SourceBox &box);
  Status readEveryNth(mlir::Attribute source, const SourceBox &box, int64_t axis, int64_t first, int64_t step);
  Status readTranspose(mlir::xfmr::TransposeSourceAttr source, const SourceBox &box);
  Status readReshape(mlir::xfmr::ReshapeSourceAttr source, const SourceBox &box);
  Status readScale(mlir::xfmr::ScaleSourceAttr source, const SourceBox &box);
  Status readShift(mlir::xfmr::ShiftSourceAttr source, const SourceBox &box);
  Status readProject(mlir::xfmr::ProjectSourceAttr source, const SourceBox &box);
  Status readLayerNorm(mlir::xfmr::LayerNormSourceAttr source, const SourceBox &box);
  Status readUnitRows(mlir::xfmr::UnitRowsSourceAttr source, const SourceBox &box);
  Status readPanels(mlir::xfmr::PanelsSourceAttr source, const SourceBox &box);
  Status readConvert(mlir::xfmr::ConvertSourceAttr source, const SourceBox &box);
  Status readGroupedPanels(mlir::xfmr::GroupedPanelsSourceAttr source, const SourceBox &box);
  Status readRowScales(mlir::xfmr::RowScalesSourceAttr source, const SourceBox &box);
  Status readRowQuantized(mlir::xfmr::RowQuantizedSourceAttr source, const SourceBox &box);
  Status readQuantizedPanels(mlir::xfmr::QuantizedPanelsSourceAttr source, const SourceBox &box);
  Status writePanels(mlir::xfmr::QuantizedPanelsSourceAttr source, int64_t firstPanel, int64_t panels, int64_t firstGroup, int64_t groups,
                     uint8_t *out);
  Status readRowSums(mlir::xfmr::RowSumsSourceAttr source, const SourceBox &box);
  /// Calls |use| with each of the rows |begin| … |begin| + |count| - 1 of the matrix |source|, whole, and with the
  /// number of the row counted from |begin|, 0 … |count| - 1.
  Status readRows(mlir::Attribute source, int64_t begin, int64_t count, llvm::function_ref<void(int64_t row, llvm::ArrayRef<float>)> use);
  Status readFlat(mlir::Attribute source, int64_t begin, int64_t count, float *out);

  const TensorProvider &tensors;
  int64_t rank;
  llvm::ArrayRef<CalibratedRows> calibrated;
  /// The #xfmr.projected_rows that was read last, and all of its rows, row-major. They are kept since slices of one
  /// source are often read one after the other.
  mlir::Attribute projectedSource;
  std::vector<float> projectedRows;
  std::set<std::string, std::less<>> nonFiniteNames;
};

} // namespace attune

#endif // ATTUNE_WEIGHTS_SOURCEREADER_H
