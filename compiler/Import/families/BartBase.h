//===- BartBase.h - BART and its descendants --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The descendants of BART have its keys, tensor names and classes. A family is a BartVariant: the switches in which they differ, and the
// defaults of its configuration class.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_FAMILIES_BARTBASE_H
#define ATTUNE_IMPORT_FAMILIES_BARTBASE_H

#include "compiler/Import/families/Seq2Seq.h"

namespace attune {

/// The positions of a family.
enum class BartPositions {
  /// A table in the files for each stack.
  Learned,
  /// A computed table of sines, then cosines: Marian's and Pegasus's.
  Sinusoidal,
  /// A computed table of sines, then cosines, with other frequencies, whose rows are counted over the ids that are not padding; padding has
  /// a row of zeros. M2M100's.
  Counted
};

/// The ids of a decoder that is given none, in the classes that have such: BART's begin with `decoder_start_token_id`, mBART's with the
/// last id of the sequence, its language.
enum class BartShift { Start, LastToken };

/// A family: its classes, its switches and the values of keys that a file lacks.
struct BartVariant {
  BartVariant(const char *family, const char *prefix) : family(family), prefix(prefix) {}

  /// The `model_type`, and the beginning of the names of its classes.
  const char *family, *prefix;
  /// The ending of the class that scores all words.
  const char *generator = "ForConditionalGeneration";
  /// PREFIXForSequenceClassification and PREFIXForQuestionAnswering exist; PREFIXForCausalLM, the decoder alone, exists.
  bool classifies = false, decodesAlone = true;

  NormPlacement placement = NormPlacement::Post;
  /// A norm of the embeddings, of both stacks; in the decoder of some, of words before positions are added.
  bool embeddingNorm = false, decoderNormsWords = false;
  /// A norm after the last layer.
  bool finalNorm = false;
  BartPositions positions = BartPositions::Learned;
  /// Rows of the learned table before that of position 0.
  int64_t positionOffset = 0;
  /// Vectors given to the decoder in place of ids are scaled, too; words of the decoder are never scaled.
  bool scalesGivenTargets = false, plainTargets = false;
  /// Scores of words have a bias, `final_logits_bias`, which files may lack.
  bool logitsBias = true;
  /// The stacks may have tables of their own: `share_encoder_decoder_embeddings` and `decoder_vocab_size` are keys of the family.
  bool ownTables = false;
  BartShift shift = BartShift::Start;
  /// The base model gets such ids, too.
  bool shifts = false;
  /// The result of a query without a visible key, which transformers 4 and 5 compute differently (docs/reference-versions.md).
  mlir::xfmr::MaskedRows maskedRows = mlir::xfmr::MaskedRows::Uniform;
  /// Another name of `encoder_layers`, or null.
  const char *layersAlias = "num_hidden_layers";

  int64_t vocab = 50265, hidden = 1024, encoderLayers = 12, decoderLayers = 12, heads = 16, inner = 4096, maxPositions = 1024, labels = 2;
  int64_t end = 2, padding = 1;
  /// `decoder_start_token_id`; none where the class has none.
  std::optional<int64_t> start;
  const char *activation = "gelu";
  bool scaled = false;
};

/// The keys of a configuration.
struct BartKeys {
  /// Of the encoder and of the decoder.
  struct Side {
    int64_t layers, heads, inner;
  };
  int64_t vocab, decoderVocab, hidden, positions, labels, end, padding = 0, start = 0;
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
  WeightId encoder = noWeight, decoder = noWeight;
};

/// Reads the keys of |variant|, those of the encoder if the model |encodes|.
BartKeys readBartKeys(ConfigReader &reader, const BartVariant &variant, bool encodes);
/// Declares word tables, whose names begin with |prefix|, both stacks without positions and layers, and inputs.
BartTables declareBartStacks(TransformerSpec &spec, const BartVariant &variant, const BartKeys &keys, const std::string &prefix);
/// The same of the decoder alone.
BartTables declareBartDecoder(TransformerSpec &spec, const BartVariant &variant, const BartKeys &keys, const std::string &prefix);
/// Declares positions, norms and layers of the stacks that are there.
void declareBartLayers(TransformerSpec &spec, const BartVariant &variant, const BartKeys &keys, const std::string &prefix);

/// Reads a model of the family |variant|.
Result<TransformerSpec> readBartLike(const Config &config, const BartVariant &variant);

} // namespace attune

#endif // ATTUNE_IMPORT_FAMILIES_BARTBASE_H
