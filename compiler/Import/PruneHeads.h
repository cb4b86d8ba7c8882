//===- PruneHeads.h - Removing attention heads ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A head is removed by removing its rows of the query, key and value projections and its columns of the output
// projection. Either the weights were saved without these rows and columns (`pruned_heads` of a configuration), or the
// compiler removes them (`--prune-heads`). Heads are numbered as in the model before any removal.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_PRUNEHEADS_H
#define ATTUNE_IMPORT_PRUNEHEADS_H

#include "compiler/Import/TransformerSpec.h"

#include <map>

namespace attune {

/// Heads to remove, by layer.
using HeadsByLayer = std::map<int64_t, std::vector<int64_t>>;

/// Reads `pruned_heads`: {"0": [1], "1": [0, 2]}. Records an error for a layer or a head that does not exist, and for a
/// layer that keeps no head.
HeadsByLayer readPrunedHeads(ConfigReader &reader, int64_t layers, int64_t heads);
/// Records an error if `pruned_heads` is not empty, for families whose heads transformers cannot remove.
void rejectPrunedHeads(ConfigReader &reader);
/// Returns the heads of 0 … |heads| - 1 that |pruned| does not remove from |layer|.
std::vector<int64_t> remainingHeads(const HeadsByLayer &pruned, int64_t layer, int64_t heads);

/// Parses "0:1;1:0,2", the value of `--prune-heads`. Fails for any other text; does not check the numbers.
Result<HeadsByLayer> parsePruneHeads(std::string_view text);
/// Removes the heads |pruned| of self-attention in the encoder or, in a model without one, in the decoder. Ignores
/// heads that are removed already, as transformers does. Fails if a layer or a head does not exist or no head would
/// remain in a layer. Fails also if a layer in |pruned| lacks self-attention or its output projection, or has a
/// distance bias, key heads that query heads share, or a norm of all heads together. After a failure |spec| may be
/// changed in part.
Status pruneHeads(TransformerSpec &spec, const HeadsByLayer &pruned);

} // namespace attune

#endif // ATTUNE_IMPORT_PRUNEHEADS_H
