//===- Dims.h - Dimensions given on the command line ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --batch, --length, --source-length and --past of `bench` and `inspect`.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_DIMS_H
#define ATTUNE_COMPILER_TOOLS_DIMS_H

#include "compiler/Tools/Artefact.h"
#include "compiler/Tools/Flags.h"

#include <vector>

namespace attune {

/// The values given, -1 where none was.
struct DimFlags {
  int64_t batch = -1;
  int64_t length = -1;
  int64_t sourceLength = -1;
  int64_t past = -1;

  /// Adds the four flags.
  void addTo(FlagTable &flags);
  /// The values of the entry's dimensions in its order. Not given: batch 1, lengths 128 (or the limit if that is less), past 0, or for
  /// entries that need some 128. An error
  /// names a flag that is above the limit or, if |strict|, whose dimension the entry does not have.
  Result<std::vector<int64_t>> resolve(const attune_entry_desc &entry, bool strict) const;
};

/// Size |axis| of |tensor| for these dimensions.
int64_t extentOf(const attune_tensor_desc &tensor, uint32_t axis, const std::vector<int64_t> &dims);
/// The shape of |tensor| with dimensions by name: "[batch, length, 768]".
std::string signatureText(const attune_entry_desc &entry, const attune_tensor_desc &tensor);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_DIMS_H
