//===- BartHeads.cpp - Keys and classes of BART and its descendants -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/BartBase.h"
#include "compiler/Import/families/DecoderParts.h"
#include "compiler/Import/PruneHeads.h"

using namespace attune;

/// The classes of a family.
enum class BartClass { Model, Generator, SequenceClassification, QuestionAnswering, DecoderAlone };

/// Reads the keys of the stack |role|, whose names begin with "encoder_" or "decoder_". Records an error if |hidden|,
/// the value of `d_model`, is not a multiple of the number of heads.
static BartKeys::Side readSide(ConfigReader &reader, const BartVariant &variant, StackRole role, int64_t hidden) {
  constexpr IntegerRange size = {1, 1 << 24}, layers = {0, 1 << 12};
  bool encoder = role == StackRole::Encoder;
  const std::string side = encoder ? "encoder" : "decoder", heads = side + "_attention_heads";
  BartKeys::Side keys;
  keys.layers = reader.integer((side + "_layers").c_str(), encoder ? variant.encoderLayers : variant.decoderLayers, layers);
  keys.heads = reader.integer(heads.c_str(), variant.heads, size);
  keys.inner = reader.integer((side + "_ffn_dim").c_str(), variant.inner, size);
  // Only the encoder's keys have other names. transformers 4 reads the number of layers from `encoder_layers`,
  // transformers 5 from the other name, so different values are an error.
  if (encoder && variant.layersAlias) {
    int64_t number = reader.integer(variant.layersAlias, keys.layers, layers);
    if (reader.present("encoder_layers") && number != keys.layers)
      reader.fail(variant.layersAlias, "that of 'encoder_layers', which is " + std::to_string(keys.layers));
    keys.layers = number;
  }
  if (encoder)
    keys.heads = reader.integer("num_attention_heads", keys.heads, size);
  if (hidden % keys.heads != 0)
    reader.fail("d_model", "a multiple of '" + heads + "', which is " + std::to_string(keys.heads));
  return keys;
}

/// Reads the number of positions and, if the variant needs it, the padding id. Records an error for counted positions
/// with fewer than four features. |keys| must have the vocabulary and the features.
static void readBartHeadsPositions(ConfigReader &reader, const BartVariant &variant, BartKeys &keys) {
  keys.positions = reader.integer("max_position_embeddings", variant.maxPositions, {1, 1 << 24});
  if (variant.positions == BartPositions::Counted || variant.shift == BartShift::LastToken)
    keys.padding = reader.integer("pad_token_id", variant.padding, {0, keys.vocab - 1});
  if (variant.positions == BartPositions::Counted && keys.hidden < 4)
    reader.fail("d_model", "at least 4, the features of two frequencies");
}

BartKeys attune::readBartKeys(ConfigReader &reader, const BartVariant &variant, bool encodes) {
  constexpr IntegerRange size = {1, 1 << 24}, ids = {1, int64_t(1) << 31};
  BartKeys keys;
  keys.vocab = reader.integer("vocab_size", variant.vocab, ids);
  keys.decoderVocab = reader.integerOrNull("decoder_vocab_size", keys.vocab, ids);
  keys.hidden = reader.integer("d_model", "hidden_size", variant.hidden, size);
  keys.encoder = encodes ? readSide(reader, variant, StackRole::Encoder, keys.hidden) : BartKeys::Side();
  keys.decoder = readSide(reader, variant, StackRole::Decoder, keys.hidden);
  readBartHeadsPositions(reader, variant, keys);
  keys.dropout = reader.number("dropout", 0.1, 0, 1);
  keys.classifierDropout = reader.present("classifier_dropout") ? reader.number("classifier_dropout", 0, 0, 1) : 0;
  keys.activation = readActivation(reader, "activation_function", variant.activation);
  keys.scaled = reader.flag("scale_embedding", variant.scaled);
  keys.shared = !variant.ownTables || reader.flag("share_encoder_decoder_embeddings", true);
  keys.tied = reader.flag("tie_word_embeddings", true);
  keys.cross = reader.flag("add_cross_attention", false);
  keys.labels = reader.labels(variant.labels);
  keys.end = reader.integerOrNull("eos_token_id", variant.end, {-1, int64_t(1) << 31});
  if (keys.shared && keys.decoderVocab != keys.vocab)
    reader.fail("decoder_vocab_size", "that of 'vocab_size', which is " + std::to_string(keys.vocab) + ", for a table of both sides");
  // In its first releases transformers had one class for all variants, with these keys as switches. Later releases
  // ignore them; here a switch that the family lacks is an error.
  if (variant.placement == NormPlacement::Post)
    reader.reject("normalize_before", "norms before the branches are not implemented for this family");
  if (!variant.finalNorm)
    reader.reject("add_final_layer_norm", "a norm after the last layer is not implemented for this family");
  requireCausal(reader);
  rejectPrunedHeads(reader);
  return keys;
}

/// Declares how the decoder's ids are made from the encoder's if an entry has no input of decoder ids.
static void declareShift(TransformerSpec &spec, const BartVariant &variant, const BartKeys &keys) {
  if (variant.shift == BartShift::LastToken)
    spec.shiftedIds = ShiftedIdsSpec{0, keys.padding};
  else
    spec.shiftedIds = ShiftedIdsSpec{keys.start, std::nullopt};
}

/// Declares `final_logits_bias`, `[1, vocabulary]` in files, as `[vocabulary]`; zeros if files lack it.
static WeightId declareLogitsBias(TransformerSpec &spec, const BartKeys &keys) {
  WeightId bias = spec.tensor("final_logits_bias", {1, keys.decoderVocab});
  spec.weights[bias].absent = 0;
  return spec.reshape(bias, {keys.decoderVocab});
}

/// Returns the step to the scores of all words, to which |bias| is added unless it is noWeight.
static HeadStep declareBartHeadsScores(TransformerSpec &spec, const BartKeys &keys, const BartTables &tables, WeightId bias) {
  LinearSpec head;
  head.weight = keys.tied ? tables.decoder : spec.tensor("lm_head.weight", {keys.decoderVocab, keys.hidden});
  head.bias = bias;
  return linearStep(head, "lm_head");
}

static void declareHead(TransformerSpec &spec, BartClass kind, const BartKeys &keys, const BartTables &tables, WeightId bias) {
  switch (kind) {
  case BartClass::Model:
    return declareSeq2SeqOutputs(spec, "last_hidden_state");
  case BartClass::Generator:
    return declareSeq2SeqOutputs(spec, "logits", {declareBartHeadsScores(spec, keys, tables, bias)});
  case BartClass::SequenceClassification:
    return declareEosClassification(spec, keys.hidden, keys.labels, keys.end, keys.classifierDropout);
  case BartClass::QuestionAnswering:
    declareStartAndEnd(spec, spec.linear("qa_outputs", keys.hidden, 2));
    return declareEncoderOutput(spec);
  case BartClass::DecoderAlone:
    spec.outputs.push_back({"logits", {declareBartHeadsScores(spec, keys, tables, noWeight)}});
  }
}

Result<TransformerSpec> attune::readBartLike(const Config &config, const BartVariant &variant) {
  const std::string prefix = variant.prefix;
  std::vector<std::pair<std::string, BartClass>> classes = {{prefix + "Model", BartClass::Model},
                                                            {prefix + variant.generator, BartClass::Generator}};
  if (variant.classifies) {
    classes.emplace_back(prefix + "ForQuestionAnswering", BartClass::QuestionAnswering);
    classes.emplace_back(prefix + "ForSequenceClassification", BartClass::SequenceClassification);
  }
  if (variant.decodesAlone)
    classes.emplace_back(prefix + "ForCausalLM", BartClass::DecoderAlone);
  ConfigReader reader(config);
  TransformerSpec spec;
  spec.family = variant.family;
  spec.architecture = reader.architecture(classes.front().first.c_str());
  spec.basePrefix = "model.";
  BartKeys keys = readBartKeys(reader, variant, /*encodes=*/spec.architecture != prefix + "ForCausalLM");
  if (variant.start)
    keys.start =
        reader.integerOrNull("decoder_start_token_id", std::min(*variant.start, keys.decoderVocab - 1), {0, keys.decoderVocab - 1});
  const auto *found = reader.choose("architectures", spec.architecture, classes);
  if (reader.status().failed())
    return reader.status();

  const BartClass kind = found->second;
  const std::string base = kind == BartClass::Model ? "" : spec.basePrefix;
  WeightId bias = kind == BartClass::Generator && variant.logitsBias ? declareLogitsBias(spec, keys) : noWeight;
  bool alone = kind == BartClass::DecoderAlone;
  BartTables tables = alone ? declareBartDecoder(spec, variant, keys, base) : declareBartStacks(spec, variant, keys, base);
  declareBartLayers(spec, variant, keys, base);
  declareHead(spec, kind, keys, tables, bias);
  if (!alone && variant.shifts)
    declareShift(spec, variant, keys);
  return spec;
}
