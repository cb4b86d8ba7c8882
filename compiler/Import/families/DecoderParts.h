//===- DecoderParts.h - Shared parts of decoders ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_FAMILIES_DECODERPARTS_H
#define ATTUNE_IMPORT_FAMILIES_DECODERPARTS_H

#include "compiler/Import/TransformerSpec.h"

namespace attune {

/// Records an error if `is_causal` is false, which lets tokens attend to later ones.
void requireCausal(ConfigReader &reader);
/// Declares the inputs of all decoders. Ids are less than |vocab|, positions less than |positions|.
void declareDecoderInputs(TransformerSpec &spec, int64_t vocab, int64_t positions);
/// Declares the inputs for cross attention to encoder states that are computed elsewhere.
void declareMemoryInputs(TransformerSpec &spec);
/// Declares the cross attention of a layer of GPT-2, whose self-attention is declared, and its norm. Keys and values
/// have a joined projection; queries have one of their own, multiplied by |factor|. `past_key_values` does not have the
/// keys and values of cross attention.
void declareGpt2Cross(TransformerSpec &spec, LayerSpec &layer, int64_t heads, double epsilon, double factor);

/// Declares a table of positions `[rows, features]` called |name|. With h = floor(features / 2), row p has `sin(p /
/// 10000^(i / (h - 1)))` in the first h columns, the cosines in the next h, and zero in the last column of an odd
/// number. The row |zeroRow|, if there is one, is zero. |features| must be at least 4.
WeightId declareSpacedSines(TransformerSpec &spec, const std::string &name, int64_t rows, int64_t features, int64_t zeroRow);

} // namespace attune

#endif // ATTUNE_IMPORT_FAMILIES_DECODERPARTS_H
