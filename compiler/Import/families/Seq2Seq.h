//===- Seq2Seq.h - What encoder-decoder families share ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Inputs and outputs of encoder-decoder models, and the layers of BART, which Marian has, too.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_FAMILIES_SEQ2SEQ_H
#define ATTUNE_IMPORT_FAMILIES_SEQ2SEQ_H

#include "compiler/Import/families/Families.h"

namespace attune {

/// Declares the inputs of an encoder-decoder model whose ids are less than these sizes.
void declareSeq2SeqInputs(TransformerSpec &spec, int64_t sourceVocab, int64_t targetVocab);
/// Declares the output |name|, |steps| from the decoder's result, and the encoder's result.
void declareSeq2SeqOutputs(TransformerSpec &spec, const std::string &name, std::vector<HeadStep> steps = {});

/// Declares the encoder's result alone.
void declareEncoderOutput(TransformerSpec &spec);

/// Declares the outputs of a classifier: two projections of the decoder's state where the last |end| of the ids stands, and the encoder's.
void declareEndClassification(TransformerSpec &spec, int64_t hidden, int64_t labels, int64_t end, double dropout);

/// The keys of a BartConfig and its relatives.
struct BartKeys {
  /// Of the encoder and of the decoder.
  struct Side {
    int64_t layers, heads, inner;
  };
  int64_t vocab, decoderVocab, hidden, positions, labels, end;
  Side encoder, decoder;
  double dropout, classifierDropout;
  mlir::xfmr::Activation activation;
  /// Embeddings are multiplied by the root of their size; both sides have one table; the head has it, too.
  bool scaled, shared, tied;
  /// A decoder alone attends to another sequence by default.
  bool cross;

  const Side &side(StackRole role) const { return role == StackRole::Encoder ? encoder : decoder; }
};

/// The word tables of both sides, not scaled.
struct BartTables {
  WeightId encoder, decoder;
};

/// Reads the keys, those of the encoder if the model |encodes|; |vocab| and |labels| are their defaults.
BartKeys readBartKeys(ConfigReader &reader, int64_t vocab, int64_t labels, bool encodes);
/// Declares the word tables, whose names begin with |prefix|, both stacks without layers, inputs and the encoder's output.
BartTables declareBartStacks(TransformerSpec &spec, const BartKeys &keys, const std::string &prefix);
/// Declares the decoder alone, without layers, and its inputs; returns its word table, not scaled.
WeightId declareBartDecoder(TransformerSpec &spec, const BartKeys &keys, const std::string &prefix);
/// Declares the layers of one side, norms after the residual sums.
void declareBartLayers(TransformerSpec &spec, const BartKeys &keys, StackRole role, const std::string &prefix);
/// Declares `final_logits_bias`, which files may lack.
WeightId declareBartLogitsBias(TransformerSpec &spec, const BartKeys &keys);
/// Declares the scores of all words by a decoder alone, whose table is |words|.
void declareBartCausalLogits(TransformerSpec &spec, const BartKeys &keys, WeightId words);
/// Declares the scores of all words; |bias| is added to them.
void declareBartLogits(TransformerSpec &spec, const BartKeys &keys, const BartTables &tables, WeightId bias);

} // namespace attune

#endif // ATTUNE_IMPORT_FAMILIES_SEQ2SEQ_H
