//===- StridedCopy.h - Loops over strided memory ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations on strided memory for SourceReader: fill, copy, scale, transform, and the decomposition of a slice of a
// row-major tensor into runs of consecutive elements. A strided tensor has its first element at |out| and the extents
// |sizes|; |strides| are the distances of neighbors in each dimension, in elements.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_WEIGHTS_STRIDEDCOPY_H
#define ATTUNE_WEIGHTS_STRIDEDCOPY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>

namespace attune {

/// Sets every element of a strided tensor to |value|.
void fillStrided(float value, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> strides, float *out);
/// Copies the tensor of |sizes| at |from|, with the strides |fromStrides|, to the tensor at |out|, with the strides
/// |strides|.
void copyStrided(const float *from, llvm::ArrayRef<int64_t> fromStrides, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> strides,
                 float *out);
/// Multiplies every element of a strided tensor by |factor| in f64 and rounds the product to f32 once.
void scaleStrided(double factor, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> strides, float *out);
/// Replaces every element x of a strided tensor by |function|(x).
void transformStrided(llvm::function_ref<float(float)> function, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> strides,
                      float *out);

/// An enumeration of a slice of a row-major tensor as runs of elements that are consecutive in the tensor. If the
/// destination is dense along the runs, the runs are as long as possible and the caller reads them directly into the
/// destination. Otherwise the caller reads a block of one or more runs, the rows of the block, into a buffer, and
/// scatter writes the block to the destination. If the destination is dense along another dimension, as in a
/// transposition, scatter writes whole cache lines.
class StridedRuns {
public:
  /// Enumerates the slice with |offsets| and |sizes| of a tensor of |shape|. |strides| are those of the destination.
  StridedRuns(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> offsets, llvm::ArrayRef<int64_t> sizes,
              llvm::ArrayRef<int64_t> strides);

  /// A block of |rows| runs of |count| elements. The first run begins at element |begin| of the tensor, each next one
  /// |rowStride| elements after the one before. Without a buffer, a block is one run.
  struct Block {
    int64_t begin, count, rows, rowStride;
    int64_t out; // index of the first element in the destination, in elements
  };

  bool needsBuffer() const { return buffered; }
  /// Returns the distance of neighboring rows of a block in the buffer, in elements.
  int64_t pitch() const { return rowElements; }
  int64_t bufferElements() const { return rowElements * rows; }
  /// Sets |block| to the next block; returns false at the end.
  bool next(Block &block);
  /// Writes a block from |buffer| to the destination |out|.
  void scatter(const Block &block, const float *buffer, float *out) const;

private:
  // A loop over a dimension or several merged ones. |size| is the extent; |from| and |to| are the distances of
  // neighbors in the tensor and in the destination, in elements; |step| is the number of indices in a block; |index| is
  // the present index.
  struct Loop {
    int64_t size, from, to, step, index;
  };
  llvm::SmallVector<Loop, 4> loops; // outermost first; the last one is the run
  unsigned rowLoop = 0;             // the loop of a block's rows, if buffered and rows > 1
  bool buffered = false, done = false;
  int64_t origin = 0, rows = 1, rowElements = 0;
};

} // namespace attune

#endif // ATTUNE_WEIGHTS_STRIDEDCOPY_H
