//===- Seq2Seq.h - Shared parts of encoder-decoder families -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Inputs and outputs of encoder-decoder models.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_FAMILIES_SEQ2SEQ_H
#define ATTUNE_IMPORT_FAMILIES_SEQ2SEQ_H

#include "compiler/Import/families/Families.h"

namespace attune {

/// Sets the inputs of |spec| to those of an encoder-decoder model. The encoder's ids are less than |sourceVocab|, the
/// decoder's less than |targetVocab|.
void declareSeq2SeqInputs(TransformerSpec &spec, int64_t sourceVocab, int64_t targetVocab);
/// Declares the output |name|, computed by |steps| from the decoder's result, and the encoder's result.
void declareSeq2SeqOutputs(TransformerSpec &spec, const std::string &name, std::vector<HeadStep> steps = {});

/// Declares the encoder's result as an output.
void declareEncoderOutput(TransformerSpec &spec);

/// Declares the outputs of a classifier: scores of |labels| classes and the encoder's result. The scores are two
/// projections, with tanh between them, of the decoder's result at the position of the last id |end| in the encoder's
/// ids (lastEosStep). |hidden| is the number of features of the decoder.
void declareEosClassification(TransformerSpec &spec, int64_t hidden, int64_t labels, int64_t end, double dropout);

} // namespace attune

#endif // ATTUNE_IMPORT_FAMILIES_SEQ2SEQ_H
