//===- DecoderParts.h - Shared parts of decoders ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_FAMILIES_DECODERPARTS_H
#define ATTUNE_IMPORT_FAMILIES_DECODERPARTS_H

#include "compiler/Import/TransformerSpec.h"

namespace attune {

/// Records an error if `is_causal` is false, which lets tokens attend to later ones.
void requireCausal(ConfigReader &reader);
/// Sets the inputs of |spec| to those that all decoders have: ids or their vectors, mask and positions, in this order.
/// Ids are less than |vocab|, positions less than |positions|.
void declareDecoderInputs(TransformerSpec &spec, int64_t vocab, int64_t positions);
/// Adds the inputs for cross attention to encoder states that are computed elsewhere: the states and their mask.
void declareMemoryInputs(TransformerSpec &spec);
/// Declares the cross attention of |layer|, a layer of GPT-2, and the norm before it. The path and the self-attention
/// of |layer| must be set; cross attention has the same scale. Keys and values have a joined projection; queries have
/// one of their own, multiplied by |factor|. In the whole stack the head mask then applies to cross attention, too, and
/// `past_key_values` does not have the keys and values of cross attention.
void declareGpt2Cross(TransformerSpec &spec, LayerSpec &layer, int64_t heads, double epsilon, double factor);

/// Declares a table of positions `[rows, features]` called |name|. Let h = floor(features / 2). Row p has
/// `sin(p / 10000^(i / (h - 1)))` in column i for i < h, and the cosine of the same angle in column h + i; if
/// |features| is odd, the last column is zero. Row |zeroRow| is zero; a number that is negative or not less than |rows|
/// means no such row. |features| must be at least 4.
WeightId declareSpacedSines(TransformerSpec &spec, const std::string &name, int64_t rows, int64_t features, int64_t zeroRow);

} // namespace attune

#endif // ATTUNE_IMPORT_FAMILIES_DECODERPARTS_H
