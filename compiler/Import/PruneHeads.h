//===- PruneHeads.h - Removing attention heads ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A head is removed by leaving out its rows of the query, key and value projections and its columns of the output projection. Weights may
// have been saved without them (`pruned_heads` of a configuration), or they are left out when the model is compiled (`--prune-heads`).
// Heads are numbered as in the model before anything was removed.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_PRUNEHEADS_H
#define ATTUNE_IMPORT_PRUNEHEADS_H

#include "compiler/Import/TransformerSpec.h"

#include <map>

namespace attune {

/// Heads to remove, by layer.
using HeadsByLayer = std::map<int64_t, std::vector<int64_t>>;

/// Reads `pruned_heads`: {"0": [1], "1": [0, 2]}. Layers, heads and that each layer keeps a head are checked.
HeadsByLayer readPrunedHeads(ConfigReader &reader, int64_t layers, int64_t heads);
/// Records an error if `pruned_heads` removes any, for families whose reference cannot save such weights.
void rejectPrunedHeads(ConfigReader &reader);
/// The heads of 0 … |heads| - 1 that |pruned| leaves to |layer|.
std::vector<int64_t> remainingHeads(const HeadsByLayer &pruned, int64_t layer, int64_t heads);

/// Parses "0:1;1:0,2", as in `--prune-heads`.
Result<HeadsByLayer> parsePruneHeads(std::string_view text);
/// Removes heads of the self-attention of the model's stack (of an encoder with a decoder, the encoder's). Heads that are gone already are
/// ignored, as the reference does.
Status pruneHeads(TransformerSpec &spec, const HeadsByLayer &pruned);

} // namespace attune

#endif // ATTUNE_IMPORT_PRUNEHEADS_H
