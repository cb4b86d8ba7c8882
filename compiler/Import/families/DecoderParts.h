//===- DecoderParts.h - What decoders without encoders share -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_FAMILIES_DECODERPARTS_H
#define ATTUNE_IMPORT_FAMILIES_DECODERPARTS_H

#include "compiler/Import/TransformerSpec.h"

namespace attune {

/// Records an error if `is_causal` lets tokens attend to later ones.
void requireCausal(ConfigReader &reader);
/// Declares the inputs that all of them have; ids and positions are less than these.
void declareDecoderInputs(TransformerSpec &spec, int64_t vocab, int64_t positions);
/// Declares the inputs of a decoder that attends to the result of an encoder elsewhere.
void declareMemoryInputs(TransformerSpec &spec);
/// Declares the cross attention of a layer of GPT-2, whose own attention is declared, and its norm: keys and values have a joined
/// projection, queries one of their own, which is multiplied by |factor|. `past_key_values` does not have them.
void declareGpt2Cross(TransformerSpec &spec, LayerSpec &layer, int64_t heads, double epsilon, double factor);

} // namespace attune

#endif // ATTUNE_IMPORT_FAMILIES_CROSSATTENTION_H
