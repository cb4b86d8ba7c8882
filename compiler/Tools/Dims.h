//===- Dims.h - Dimensions given on the command line ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The flags --batch, --length, --source-length and --past of `bench` and `inspect`.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_DIMS_H
#define ATTUNE_COMPILER_TOOLS_DIMS_H

#include "compiler/Tools/Artifact.h"
#include "compiler/Tools/Flags.h"

#include <vector>

namespace attune {

/// Values of the flags; -1 for a flag that was not given.
struct DimFlags {
  int64_t batch = -1;
  int64_t length = -1;
  int64_t sourceLength = -1;
  int64_t past = -1;

  /// Adds the four flags.
  void addTo(FlagTable &flags);
  /// Returns the values of the dimensions of |entry|, in its order. By default the batch is 1, lengths are 128, or the
  /// limit if that is less, and the past is 0. In an entry that continues sequences, such as `decode`, the past is 128,
  /// or one less than the limit if the limit is at most 128. A past that the shapes of inputs give has the default of a
  /// length. The total length is the sum of past and length. All other dimensions are 1. Fails, with an error that
  /// names the flag, for a value above the limit and, if |strict|, for a flag whose dimension the entry does not have.
  Result<std::vector<int64_t>> resolve(const attune_entry_desc &entry, bool strict) const;
};

/// Returns the size of |axis| of |tensor|, where |dims| are the values of the entry's dimensions.
int64_t extentOf(const attune_tensor_desc &tensor, uint32_t axis, const std::vector<int64_t> &dims);
/// Returns the shape of |tensor| with named dimensions, such as "[batch, length, 768]".
std::string signatureText(const attune_entry_desc &entry, const attune_tensor_desc &tensor);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_DIMS_H
