//===- ShapeSearch.h - Inputs of other shapes -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_BISECT_SHAPESEARCH_H
#define ATTUNE_COMPILER_BISECT_SHAPESEARCH_H

#include "compiler/Plain/PlainSteps.h"

namespace attune {

/// A number of rows and their length.
struct CallShape {
  int64_t batch, length;
};

/// Returns shapes, small ones first, that reach the tails of tiles: around the rows of a register tile, the width of a
/// panel, blocks of rows and blocks of keys.
std::vector<CallShape> listShapes();

/// Returns inputs of the entry `forward` with |shape| and pseudo-random values: all required inputs, and a mask that hides
/// the ends of some rows. An error if the entry has a required input of another form.
Result<PlainInputs> makeInputs(const PlainSignature &signature, CallShape shape);

} // namespace attune

#endif // ATTUNE_COMPILER_BISECT_SHAPESEARCH_H
