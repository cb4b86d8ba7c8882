//===- ChatGlm.cpp - ChatGLM2, ChatGLM3 and GLM-4 under their first names -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// GLM with tensor names of its own and one projection for queries, keys and values. As in GLM, rotary embeddings rotate
// pairs of neighboring components in the first half of each head, and one projection has gate and up. transformers does
// not have the family: its code was published with the files. The first ChatGLM, whose positions have two dimensions,
// is another model and is refused.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

/// Returns |config| with the class that published files are loaded as. Their `architectures` names ChatGLMModel, the
/// model without a head, but the entry `AutoModelForCausalLM` of their `auto_map` names a class for generation; the
/// result has that class in `architectures`. Returns |config| unchanged if it has no such names, or if the user or the
/// tensors chose the class.
static Config withLoadedClass(const Config &config) {
  Config result = config;
  const Json *map = config.find("auto_map"), *classes = config.find("architectures");
  if (config.hasChosenClass() || !map || !map->is_object() || !classes || *classes != Json::array({"ChatGLMModel"}))
    return result;
  auto entry = map->find("AutoModelForCausalLM");
  if (entry == map->end() || !entry->is_string())
    return result;
  const std::string name = entry->get<std::string>();
  result.set("architectures", Json::array({name.substr(name.rfind('.') + 1)}));
  return result;
}

Result<TransformerSpec> attune::readChatGlmSpec(const Config &file) {
  static constexpr DecoderClasses classes = {"chatglm", "ChatGLM", false,   false,   nullptr,
                                             false,     nullptr,   nullptr, nullptr, "ForConditionalGeneration"};
  constexpr IntegerRange size = {1, 1 << 24};
  const Config config = withLoadedClass(file);
  ConfigReader reader(config);
  reader.reject("position_encoding_2d", "positions of two dimensions, those of the first ChatGLM, are not implemented");
  DecoderDefaults defaults;
  defaults.layers = 28, defaults.layersKey = "num_layers", defaults.positions = 2048, defaults.positionsKey = "seq_length";
  defaults.intermediate = 13696, defaults.intermediateKey = "ffn_hidden_size";
  defaults.epsilon = 1e-5, defaults.epsilonKey = "layernorm_epsilon";
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  keys.vocab = reader.integer("padded_vocab_size", 65024, {1, int64_t(1) << 31});
  keys.headSize = reader.integerOrNull("kv_channels", 128, size);
  bool isMultiQuery = reader.flag("multi_query_attention", false);
  keys.kvHeads = isMultiQuery ? reader.integer("multi_query_group_num", 1, size) : keys.heads;
  if (keys.heads % keys.kvHeads != 0)
    reader.fail("multi_query_group_num", "a divisor of 'num_attention_heads', which is " + std::to_string(keys.heads));
  bool bias = reader.flag("add_bias_linear", false), attentionBias = reader.flag("add_qkv_bias", false) || bias;
  reader.reject("apply_residual_connection_post_layernorm", "residuals of normed values are not implemented for this family");
  reader.reject("pre_seq_len", "learned prefixes are not implemented");
  if (reader.present("quantization_bit") && reader.integer("quantization_bit", 0, {0, 8}) != 0)
    reader.fail("quantization_bit", "0: quantized files of this code are not implemented");
  if (bias)
    reader.fail("add_bias_linear", "false: biases of all projections are not implemented for this family");

  RopeDefaults rope;
  rope.partial = true, rope.partialFactor = 0.5;
  double ratio = reader.present("rope_ratio") ? reader.number("rope_ratio", 1, 1e-6, 1e9) : 1;
  rope.theta = 10000 * ratio;
  CausalDecoder decoder(reader, classes, keys);
  decoder.rope = readRope(reader, config, keys.headSize, keys.positions, rope);
  decoder.normKind = reader.flag("rmsnorm", true) ? &TransformerSpec::rmsNorm : &TransformerSpec::norm;
  decoder.hasFinalNorm = reader.flag("post_layer_norm", true);
  decoder.names = {"transformer.", "embedding.word_embeddings", "encoder.layers", "encoder.final_layernorm", "transformer.output_layer"};
  Result<TransformerSpec> spec = decoder.declare([&](TransformerSpec &spec, int64_t, const std::string &path) {
    const std::string module = path + ".self_attention";
    LayerSpec layer;
    AttentionSpec &attention = layer.attention.emplace();
    LinearSpec joined = spec.linear(module + ".query_key_value", keys.hidden, keys.queryFeatures() + 2 * keys.keyFeatures(), attentionBias);
    if (isMultiQuery)
      spec.splitByPart(attention, joined, keys.heads, keys.kvHeads);
    else
      spec.splitByHead(attention, joined, keys.heads);
    attention.output = spec.linear(module + ".dense", keys.queryFeatures(), keys.hidden, /*bias=*/false);
    setDecoderAttention(attention, keys);
    attention.rotary = decoder.rotary;
    attention.interleaved = true;
    layer.ffn = declareJoinedFfn(spec, keys, path + ".mlp.dense_h_to_4h", path + ".mlp.dense_4h_to_h");
    layer.attentionNorm = decoder.norm(spec, path + ".input_layernorm");
    layer.ffnNorm = decoder.norm(spec, path + ".post_attention_layernorm");
    return layer;
  });
  // Both ChatGLM2 and ChatGLM3 have this vocabulary, and files of both may have `rope_ratio`. Only the code published
  // with a file says which of the two models the file is for.
  if (spec && ratio != 1 && keys.vocab == 65024)
    spec->warning = file.file() + ": 'rope_ratio' multiplies the base of rotary embeddings, as in ChatGLM3; the code of ChatGLM2 with "
                                  "32768 positions divides positions by it, which is another model";
  return spec;
}
