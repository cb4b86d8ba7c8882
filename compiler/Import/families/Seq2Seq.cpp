//===- Seq2Seq.cpp - What encoder-decoder families share ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/Seq2Seq.h"

#include "compiler/Import/families/DecoderParts.h"
#include "compiler/Import/PruneHeads.h"

#include <cmath>

using namespace attune;

void attune::declareSeq2SeqInputs(TransformerSpec &spec, int64_t sourceVocab, int64_t targetVocab) {
  constexpr StackRole encoder = StackRole::Encoder, decoder = StackRole::Decoder;
  spec.inputs = {{"input_ids", InputRole::TokenIds, sourceVocab},
                 {"inputs_embeds", InputRole::TokenVectors, 0, /*standard=*/false},
                 {"encoder_outputs", InputRole::EncoderResult, 0, /*standard=*/false},
                 {"attention_mask", InputRole::AttentionMask},
                 {"decoder_input_ids", InputRole::TokenIds, targetVocab, /*standard=*/true, decoder},
                 {"decoder_inputs_embeds", InputRole::TokenVectors, 0, /*standard=*/false, decoder},
                 {"decoder_attention_mask", InputRole::AttentionMask, 0, /*standard=*/true, decoder},
                 {"head_mask", InputRole::HeadMask, 0, /*standard=*/false, encoder},
                 {"decoder_head_mask", InputRole::HeadMask, 0, /*standard=*/false, decoder},
                 {"cross_attn_head_mask", InputRole::CrossHeadMask, 0, /*standard=*/false, decoder}};
}

void attune::declareSeq2SeqOutputs(TransformerSpec &spec, const std::string &name, std::vector<HeadStep> steps) {
  spec.outputs.push_back({name, std::move(steps)});
  declareEncoderOutput(spec);
}

void attune::declareEncoderOutput(TransformerSpec &spec) {
  spec.outputs.push_back({"encoder_last_hidden_state", {}, /*squeeze=*/false, StackRole::Encoder});
}

void attune::declareEndClassification(TransformerSpec &spec, int64_t hidden, int64_t labels, int64_t end, double dropout) {
  const std::string path = "classification_head";
  LinearSpec dense = spec.linear(path + ".dense", hidden, hidden), output = spec.classifier(path + ".out_proj", hidden, labels);
  declareSeq2SeqOutputs(spec, "logits",
                        {lastEndStep(end, path), dropoutStep(dropout, path + ".dropout"), linearStep(dense, path + ".dense"),
                         activationStep(mlir::xfmr::Activation::Tanh, path), linearStep(output, path + ".out_proj")});
}

/// The keys of one side, whose names begin with |side|.
static BartKeys::Side readSide(ConfigReader &reader, const std::string &side, int64_t hidden) {
  constexpr Range size = {1, 1 << 24}, layers = {0, 1 << 12};
  BartKeys::Side keys;
  const std::string heads = side + "_attention_heads";
  keys.layers = reader.integer((side + "_layers").c_str(), 12, layers);
  // Another name of the encoder's key alone.
  keys.heads = side == "encoder" ? reader.integer(heads.c_str(), "num_attention_heads", 16, size) : reader.integer(heads.c_str(), 16, size);
  keys.inner = reader.integer((side + "_ffn_dim").c_str(), 4096, size);
  if (hidden % keys.heads != 0)
    reader.fail("d_model", "a multiple of '" + heads + "', which is " + std::to_string(keys.heads));
  return keys;
}

BartKeys attune::readBartKeys(ConfigReader &reader, int64_t vocab, int64_t labels, bool encodes) {
  constexpr Range size = {1, 1 << 24}, ids = {1, int64_t(1) << 31};
  BartKeys keys;
  keys.vocab = reader.integer("vocab_size", vocab, ids);
  keys.decoderVocab = reader.integerOrNull("decoder_vocab_size", keys.vocab, ids);
  keys.hidden = reader.integer("d_model", "hidden_size", 1024, size);
  keys.encoder = encodes ? readSide(reader, "encoder", keys.hidden) : BartKeys::Side();
  keys.decoder = readSide(reader, "decoder", keys.hidden);
  keys.positions = reader.integer("max_position_embeddings", 1024, size);
  keys.dropout = reader.number("dropout", 0.1, 0, 1);
  keys.classifierDropout = reader.present("classifier_dropout") ? reader.number("classifier_dropout", 0, 0, 1) : 0;
  keys.activation = readActivation(reader, "activation_function", "gelu");
  keys.scaled = reader.flag("scale_embedding", false);
  keys.shared = reader.flag("share_encoder_decoder_embeddings", true);
  keys.tied = reader.flag("tie_word_embeddings", true);
  keys.cross = reader.flag("add_cross_attention", false);
  keys.labels = reader.labels(labels);
  keys.end = reader.integerOrNull("eos_token_id", 2, {-1, int64_t(1) << 31});
  if (keys.shared && keys.decoderVocab != keys.vocab)
    reader.fail("decoder_vocab_size", "that of 'vocab_size', which is " + std::to_string(keys.vocab) + ", for a table of both sides");
  reader.reject("normalize_before", "norms before the branches are not implemented for this family");
  reader.reject("add_final_layer_norm", "a norm after the last layer is not implemented for this family");
  rejectPrunedHeads(reader);
  reader.reject("quantization_config", "quantized weights are not implemented");
  return keys;
}

/// Declares the stack of |role| without layers. Vectors that are given in place of ids are not scaled, so its table |words| is.
static void declareBartStack(TransformerSpec &spec, const BartKeys &keys, StackRole role, const std::string &prefix, WeightId words) {
  StackSpec &stack = role == StackRole::Encoder ? spec.encoder.emplace() : spec.decoder.emplace();
  stack.name = role == StackRole::Encoder ? "encoder" : "decoder";
  stack.dropout = stack.embeddings.dropout = keys.dropout;
  stack.hidden = stack.memoryHidden = keys.hidden;
  stack.maxLength = keys.positions;
  stack.cached = role == StackRole::Decoder;
  stack.countsPadding = true;
  stack.embeddings.path = prefix + stack.name + ".embed_tokens";
  stack.embeddings.words = words;
}

static double embeddingScale(const BartKeys &keys) { return keys.scaled ? std::sqrt(double(keys.hidden)) : 1; }

BartTables attune::declareBartStacks(TransformerSpec &spec, const BartKeys &keys, const std::string &prefix) {
  const std::string encoderName = prefix + "encoder.embed_tokens.weight", decoderName = prefix + "decoder.embed_tokens.weight";
  BartTables tables;
  if (keys.shared) {
    tables.encoder = tables.decoder = spec.tensor(prefix + "shared.weight", {keys.vocab, keys.hidden}, {encoderName, decoderName});
  } else {
    tables.encoder = spec.tensor(encoderName, {keys.vocab, keys.hidden});
    tables.decoder = spec.tensor(decoderName, {keys.decoderVocab, keys.hidden});
  }
  if (keys.tied)
    spec.addAlias(tables.decoder, "lm_head.weight");
  WeightId encoderWords = spec.scale(tables.encoder, embeddingScale(keys));
  WeightId decoderWords = keys.shared ? encoderWords : spec.scale(tables.decoder, embeddingScale(keys));
  declareBartStack(spec, keys, StackRole::Encoder, prefix, encoderWords);
  declareBartStack(spec, keys, StackRole::Decoder, prefix, decoderWords);
  declareSeq2SeqInputs(spec, keys.vocab, keys.decoderVocab);
  return tables;
}

WeightId attune::declareBartDecoder(TransformerSpec &spec, const BartKeys &keys, const std::string &prefix) {
  constexpr StackRole decoder = StackRole::Decoder;
  WeightId words = spec.tensor(prefix + "decoder.embed_tokens.weight", {keys.decoderVocab, keys.hidden}, {prefix + "shared.weight"});
  if (keys.tied)
    spec.addAlias(words, "lm_head.weight");
  declareBartStack(spec, keys, decoder, prefix, spec.scale(words, embeddingScale(keys)));
  spec.inputs = {{"input_ids", InputRole::TokenIds, keys.decoderVocab, /*standard=*/true, decoder},
                 {"inputs_embeds", InputRole::TokenVectors, 0, /*standard=*/false, decoder},
                 {"attention_mask", InputRole::AttentionMask, 0, /*standard=*/true, decoder},
                 {"head_mask", InputRole::HeadMask, 0, /*standard=*/false, decoder},
                 {"cross_attn_head_mask", InputRole::CrossHeadMask, 0, /*standard=*/false, decoder}};
  size_t own = spec.inputs.size();
  declareMemoryInputs(spec);
  for (size_t i = own; i < spec.inputs.size(); ++i)
    spec.inputs[i].standard = keys.cross;
  return words;
}

/// One attention; the names are those of a generated file, in its order.
static AttentionSpec declareAttention(TransformerSpec &spec, int64_t hidden, int64_t heads, const std::string &path, bool causal) {
  AttentionSpec attention;
  attention.key = spec.linear(path + ".k_proj", hidden, hidden);
  attention.value = spec.linear(path + ".v_proj", hidden, hidden);
  attention.query = spec.linear(path + ".q_proj", hidden, hidden);
  attention.output = spec.linear(path + ".out_proj", hidden, hidden);
  attention.heads = attention.kvHeads = attention.originalHeads = heads;
  attention.scale = 1 / std::sqrt(double(hidden / heads));
  attention.causal = causal;
  if (causal)
    attention.maskedRows = mlir::xfmr::MaskedRows::LeastMasked;
  return attention;
}

void attune::declareBartLayers(TransformerSpec &spec, const BartKeys &keys, StackRole role, const std::string &prefix) {
  constexpr double epsilon = 1e-5;
  bool decoder = role == StackRole::Decoder;
  StackSpec &stack = decoder ? *spec.decoder : *spec.encoder;
  const BartKeys::Side &side = keys.side(role);
  for (int64_t i = 0; i < side.layers; ++i) {
    LayerSpec layer;
    layer.path = prefix + stack.name + ".layers." + std::to_string(i);
    layer.attention = declareAttention(spec, keys.hidden, side.heads, layer.path + ".self_attn", /*causal=*/decoder);
    layer.attentionNorm = spec.norm(layer.path + ".self_attn_layer_norm", keys.hidden, epsilon);
    if (decoder) {
      layer.cross = declareAttention(spec, keys.hidden, side.heads, layer.path + ".encoder_attn", /*causal=*/false);
      layer.crossNorm = spec.norm(layer.path + ".encoder_attn_layer_norm", keys.hidden, epsilon);
    }
    FfnSpec &ffn = layer.ffn.emplace();
    ffn.up = spec.linear(layer.path + ".fc1", keys.hidden, side.inner);
    ffn.down = spec.linear(layer.path + ".fc2", side.inner, keys.hidden);
    ffn.activation = keys.activation;
    layer.ffnNorm = spec.norm(layer.path + ".final_layer_norm", keys.hidden, epsilon);
    stack.layers.push_back(std::move(layer));
  }
}

WeightId attune::declareBartLogitsBias(TransformerSpec &spec, const BartKeys &keys) {
  WeightId bias = spec.tensor("final_logits_bias", {1, keys.decoderVocab});
  spec.weights[bias].absent = 0;
  return spec.reshape(bias, {keys.decoderVocab});
}

void attune::declareBartCausalLogits(TransformerSpec &spec, const BartKeys &keys, WeightId words) {
  WeightId head = keys.tied ? words : spec.tensor("lm_head.weight", {keys.decoderVocab, keys.hidden});
  spec.outputs.push_back({"logits", {linearStep({head, noWeight}, "lm_head")}});
}

void attune::declareBartLogits(TransformerSpec &spec, const BartKeys &keys, const BartTables &tables, WeightId bias) {
  LinearSpec head;
  head.weight = keys.tied ? tables.decoder : spec.tensor("lm_head.weight", {keys.decoderVocab, keys.hidden});
  head.bias = bias;
  declareSeq2SeqOutputs(spec, "logits", {linearStep(head, "lm_head")});
}
