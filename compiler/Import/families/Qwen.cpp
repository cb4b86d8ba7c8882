//===- Qwen.cpp - Qwen2, Qwen3 and MiMo -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Llama whose later layers may have a window. Qwen2 has biases of queries, keys and values, Qwen3 an RMS norm of each
// head of queries and keys. MiMo is Qwen2 with layers that predict further tokens (`model.mtp_layers`), which its
// language model does not compute.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/CausalDecoder.h"
#include "compiler/Import/families/Families.h"

using namespace attune;

/// Reads a model of Qwen3, if |isQwen3|, or of Qwen2.
static Result<TransformerSpec> readQwen(const Config &config, const DecoderClasses &classes, bool isQwen3) {
  ConfigReader reader(config);
  DecoderDefaults defaults;
  defaults.vocab = 151936;
  defaults.kvHeads = 32;
  defaults.headSize = isQwen3 ? 128 : 0;
  defaults.intermediate = 22016;
  defaults.positions = 32768;
  defaults.bidirectional = true;
  defaults.headKeys = HeadKeys::All;
  DecoderKeys keys = readDecoderKeys(reader, defaults);
  bool all = isQwen3 && reader.flag("attention_bias", false);
  AttentionBiases biases = {/*queryKeyValue=*/all || !isQwen3, /*output=*/all};
  std::optional<int64_t> window = reader.flag("use_sliding_window", false) ? readWindow(reader, 4096) : std::nullopt;
  int64_t firstSliding = reader.integer("max_window_layers", 28, {0, int64_t(1) << 31});
  auto windows = readWindows(reader, config, keys.layers, window, [&](int64_t index) { return index >= firstSliding; });
  CausalDecoder decoder(reader, classes, keys);
  decoder.rope = readRope(reader, config, keys.headSize, keys.positions);
  return decoder.declare([&](TransformerSpec &spec, int64_t index, const std::string &path) {
    LayerSpec layer;
    AttentionSpec &attention = layer.attention.emplace(declareDecoderAttention(spec, keys, path + ".self_attn", biases));
    if (isQwen3) {
      attention.queryNorm.norm = decoder.norm(spec, path + ".self_attn.q_norm", keys.headSize);
      attention.keyNorm.norm = decoder.norm(spec, path + ".self_attn.k_norm", keys.headSize);
    }
    attention.rotary = decoder.rotary;
    setWindow(attention, windows[index]);
    layer.ffn = declareGatedFfn(spec, keys, path + ".mlp");
    layer.attentionNorm = decoder.norm(spec, path + ".input_layernorm");
    layer.ffnNorm = decoder.norm(spec, path + ".post_attention_layernorm");
    return layer;
  });
}

Result<TransformerSpec> attune::readQwen2Spec(const Config &config) {
  return readQwen(config, {"qwen2", "Qwen2", true, true, "transformer."}, /*isQwen3=*/false);
}

Result<TransformerSpec> attune::readMiMoSpec(const Config &config) {
  return readQwen(config, {"mimo", "MiMo", false, false, nullptr}, /*isQwen3=*/false);
}

Result<TransformerSpec> attune::readQwen3Spec(const Config &config) {
  return readQwen(config, {"qwen3", "Qwen3", true, true, "transformer."}, /*isQwen3=*/true);
}
