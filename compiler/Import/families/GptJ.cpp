//===- GptJ.cpp - GPT-J and CodeGen ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Parallel branches with one norm, rotary embeddings of pairs of neighboring components in the first part of each head,
// and a bias of the scores of words. Token types, if they are an input, are rows of the word table. CodeGen joins the
// projections of queries, values and keys, in four groups of heads.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

/// A function that declares the projections of queries, keys and values of the attention |path|.
using DeclareProjections = void (*)(TransformerSpec &spec, AttentionSpec &attention, const DecoderKeys &keys, const std::string &path);

static void declareSeparate(TransformerSpec &spec, AttentionSpec &attention, const DecoderKeys &keys, const std::string &path) {
  attention.key = spec.linear(path + ".k_proj", keys.hidden, keys.hidden, /*bias=*/false);
  attention.value = spec.linear(path + ".v_proj", keys.hidden, keys.hidden, /*bias=*/false);
  attention.query = spec.linear(path + ".q_proj", keys.hidden, keys.hidden, /*bias=*/false);
}

/// The number of groups of heads in CodeGen's projection.
static constexpr int64_t kGroups = 4;

/// Declares the joined projection of CodeGen. Its rows are `[groups, 3, hidden / groups]`: in each group those of
/// queries, values and keys.
static void declareJoined(TransformerSpec &spec, AttentionSpec &attention, const DecoderKeys &keys, const std::string &path) {
  LinearSpec joined = spec.linear(path + ".qkv_proj", keys.hidden, 3 * keys.hidden, /*bias=*/false);
  auto part = [&](int64_t number) {
    std::vector<int64_t> rows;
    for (int64_t group = 0; group < kGroups; ++group)
      for (int64_t row = 0; row < keys.hidden / kGroups; ++row)
        rows.push_back((3 * group + number) * (keys.hidden / kGroups) + row);
    return LinearSpec{spec.select(joined.weight, 0, std::move(rows)), noWeight};
  };
  attention.query = part(0);
  attention.value = part(1);
  attention.key = part(2);
}

static Result<TransformerSpec> readGptJLike(const Config &config, const DecoderClasses &classes, DeclareProjections declareProjections) {
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 50400, defaults.layers = 28, defaults.heads = 16, defaults.intermediate = 0;
  defaults.hiddenKey = "n_embd", defaults.layersKey = "n_layer", defaults.headsKey = "n_head";
  defaults.positionsKey = "n_positions", defaults.intermediateKey = "n_inner";
  defaults.epsilonKey = "layer_norm_epsilon", defaults.epsilon = 1e-5;
  defaults.activationKey = "activation_function", defaults.activation = "gelu_new";
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  if (declareProjections == declareJoined && keys.heads % kGroups != 0)
    reader.fail("n_head", "a multiple of 4, as projections come in four groups of heads");
  RopeSpec rope;
  rope.parameters = {{"base", 10000.0}};
  rope.width = reader.integer("rotary_dim", 64, {2, keys.headSize});
  if (rope.width % 2 != 0)
    reader.fail("rotary_dim", "an even number");
  CausalDecoder decoder(reader, classes, keys);
  decoder.names = {"transformer.", "wte", "h", "ln_f", "lm_head", "score"};
  decoder.normKind = &TransformerSpec::norm;
  decoder.rope = rope;
  decoder.head.bias = true;
  decoder.wordTypes = true;
  return decoder.declare([&](TransformerSpec &spec, int64_t, const std::string &path) {
    LayerSpec layer;
    layer.attentionNorm = decoder.norm(spec, path + ".ln_1");
    AttentionSpec &attention = layer.attention.emplace();
    declareProjections(spec, attention, keys, path + ".attn");
    attention.output = spec.linear(path + ".attn.out_proj", keys.hidden, keys.hidden, /*bias=*/false);
    setDecoderAttention(attention, keys);
    attention.rotary = decoder.rotary;
    attention.interleaved = true;
    layer.ffn = declarePlainFfn(spec, keys, path + ".mlp.fc_in", path + ".mlp.fc_out");
    layer.parallel = true;
    return layer;
  });
}

Result<TransformerSpec> attune::readGptJSpec(const Config &config) {
  return readGptJLike(config, {"gptj", "GPTJ", true, false, "transformer."}, declareSeparate);
}

Result<TransformerSpec> attune::readCodeGenSpec(const Config &config) {
  return readGptJLike(config, {"codegen", "CodeGen", false, false, nullptr}, declareJoined);
}
