//===- BartBase.h - BART and its descendants --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// BART's variants have BART's keys, tensor names and classes. A BartVariant describes a family: the switches in which
// families differ, and the defaults of its configuration class.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_FAMILIES_BARTBASE_H
#define ATTUNE_IMPORT_FAMILIES_BARTBASE_H

#include "compiler/Import/families/Seq2Seq.h"

namespace attune {

/// The kind of positions of a variant.
enum class BartPositions {
  /// A table in the files for each stack.
  Learned,
  /// A computed table whose rows have sines, then cosines: Marian's and Pegasus's.
  Sinusoidal,
  /// A computed table whose rows have sines, then cosines, with other frequencies (M2M100). Positions are counted over
  /// the ids that are not padding; padding has a row of zeros.
  Counted
};

/// An entry without an input of decoder ids makes them from the encoder's: it moves the encoder's ids one position on,
/// drops the last one and sets the first (ShiftedIdsSpec). BartShift says what the first one is:
/// `decoder_start_token_id` (Start, as in BART), or the encoder's last id before padding, which names the language of
/// the sequence (LastToken, as in mBART).
enum class BartShift { Start, LastToken };

/// A family: its classes, its switches and its defaults.
struct BartVariant {
  BartVariant(const char *family, const char *prefix) : family(family), prefix(prefix) {}

  /// The `model_type`, and the prefix of the names of its classes.
  const char *family, *prefix;
  /// The rest, after the prefix, of the name of the class that has an encoder and a decoder and scores all words.
  const char *generator = "ForConditionalGeneration";
  /// |classifies| is true if there are PREFIXForSequenceClassification and PREFIXForQuestionAnswering, |decodesAlone|
  /// if there is PREFIXForCausalLM, the decoder alone.
  bool classifies = false, decodesAlone = true;

  NormPlacement placement = NormPlacement::Post;
  /// |embeddingNorm| is true if the embeddings of both stacks have a norm, |decoderNormsWords| if that of the decoder
  /// applies to words, before positions are added.
  bool embeddingNorm = false, decoderNormsWords = false;
  /// True if there is a norm after the last layer.
  bool finalNorm = false;
  BartPositions positions = BartPositions::Learned;
  /// The number of rows of the learned table before that of position 0.
  int64_t positionOffset = 0;
  /// |scalesGivenTargets| is true if `scale_embedding` also scales word vectors that are an input of the decoder,
  /// |plainTargets| if it does not scale the decoder's words.
  bool scalesGivenTargets = false, plainTargets = false;
  /// True if scores of words have a bias, `final_logits_bias`, which files may lack.
  bool logitsBias = true;
  /// True if each stack may have a word table of its own (`share_encoder_decoder_embeddings`). Otherwise both have one,
  /// and `decoder_vocab_size` must equal `vocab_size`.
  bool ownTables = false;
  BartShift shift = BartShift::Start;
  /// True if an entry without an input of decoder ids makes them from the encoder's, as |shift| says; otherwise decoder
  /// ids are a required input.
  bool shifts = false;
  /// The probabilities of a query of the decoder's self-attention without a visible key, which transformers 4 and 5
  /// compute differently (docs/reference-versions.md).
  mlir::xfmr::MaskedRows maskedRows = mlir::xfmr::MaskedRows::Uniform;
  /// Another name of the key `encoder_layers`, or null.
  const char *layersAlias = "num_hidden_layers";

  int64_t vocab = 50265, hidden = 1024, encoderLayers = 12, decoderLayers = 12, heads = 16, inner = 4096, maxPositions = 1024, labels = 2;
  int64_t end = 2, padding = 1;
  /// The default of `decoder_start_token_id`, a key that is read only if this has a value.
  std::optional<int64_t> start;
  const char *activation = "gelu";
  bool scaled = false;
};

/// The values of the keys of a configuration.
struct BartKeys {
  /// The keys of the encoder or of the decoder.
  struct Side {
    int64_t layers, heads, inner;
  };
  int64_t vocab, decoderVocab, hidden, positions, labels, end, padding = 0, start = 0;
  Side encoder, decoder;
  double dropout, classifierDropout;
  mlir::xfmr::Activation activation;
  /// |scaled|: word vectors are multiplied by the square root of their number of features. |tied|: the head has the
  /// decoder's word table. |shared|: files may have one word table for both stacks; if also |tied|, there is only one.
  bool scaled, shared, tied;
  /// True if encoder states and their mask are standard inputs of the class PREFIXForCausalLM, the decoder alone
  /// (`add_cross_attention`).
  bool cross;

  const Side &side(StackRole role) const { return role == StackRole::Encoder ? encoder : decoder; }
};

/// The word tables of both stacks, without the factor of `scale_embedding`; noWeight for a stack that the model lacks.
struct BartTables {
  WeightId encoder = noWeight, decoder = noWeight;
};

/// Reads the keys of |variant|. |encodes| is true if the model has an encoder.
BartKeys readBartKeys(ConfigReader &reader, const BartVariant &variant, bool encodes);
/// Declares the word tables, both stacks without positions and layers, and the inputs. The names of the base model's
/// tensors begin with |prefix|.
BartTables declareBartStacks(TransformerSpec &spec, const BartVariant &variant, const BartKeys &keys, const std::string &prefix);
/// Declares the same for the decoder alone.
BartTables declareBartDecoder(TransformerSpec &spec, const BartVariant &variant, const BartKeys &keys, const std::string &prefix);
/// Declares positions, norms and layers of all stacks of |spec|.
void declareBartLayers(TransformerSpec &spec, const BartVariant &variant, const BartKeys &keys, const std::string &prefix);

/// Reads a model of the family |variant|.
Result<TransformerSpec> readBartLike(const Config &config, const BartVariant &variant);

} // namespace attune

#endif // ATTUNE_IMPORT_FAMILIES_BARTBASE_H
