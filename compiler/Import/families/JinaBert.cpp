//===- JinaBert.cpp - BERT with ALiBi -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Files of the type "bert" whose `position_embedding_type` is "alibi", for code that was published with them: ALiBi in
// both directions in place of a table of positions, and feed-forwards that may be gated. A second form of the code,
// "qk-post-norm", has norms of queries and keys, always gates feed-forwards, and adds the input of attention twice:
// `norm(x + norm(x + attention(x)))`. Only `auto_map` says which form a file is for.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/BertBase.h"
#include "llvm/ADT/STLExtras.h"

using namespace attune;
using mlir::xfmr::Activation;

namespace {

struct JinaKeys : BertKeys {
  bool normsQueries;
  /// The activation of the gate of feed-forwards, None without a gate. `hidden_act` is the activation of feed-forwards
  /// without a gate, and of the head that scores words.
  Activation gate;
};

} // namespace

/// Returns true if `auto_map` names the code with norms of queries and keys.
static bool namesQueryNorms(const Config &config) {
  const Json *classes = config.find("auto_map");
  return classes && classes->is_object() && llvm::any_of(*classes, [](const Json &name) {
           return name.is_string() && name.get<std::string>().find("qk-post-norm") != std::string::npos;
         });
}

static JinaKeys readJinaBertKeys(ConfigReader &reader, const Config &config) {
  JinaKeys keys;
  static_cast<BertKeys &>(keys) = readBertSizes(reader);
  keys.positionTable = false;
  keys.normsQueries = namesQueryNorms(config);
  static constexpr std::pair<const char *, Activation> types[] = {
      {"original", Activation::None}, {"geglu", Activation::Gelu}, {"reglu", Activation::Relu}};
  const auto *type = reader.choose("feed_forward_type", reader.string("feed_forward_type", "original"), types);
  keys.gate = type ? type->second : Activation::None;
  if (keys.normsQueries && keys.gate == Activation::None)
    reader.fail("feed_forward_type", "geglu or reglu, as 'auto_map' names code with gated feed-forwards");
  rejectPrunedHeads(reader);
  reader.reject("is_decoder", "slopes for attention to earlier tokens are not implemented for this family");
  return keys;
}

static void declareFfn(TransformerSpec &spec, const JinaKeys &keys, LayerSpec &layer) {
  if (keys.gate == Activation::None)
    return declareBertFfn(spec, keys, layer);
  FfnSpec &ffn = layer.ffn.emplace();
  const std::string path = layer.path + ".mlp";
  LinearSpec joined =
      spec.linear(path + (keys.normsQueries ? ".up_gated_layer" : ".gated_layers"), keys.hidden, 2 * keys.intermediate, /*bias=*/false);
  ffn.gate = spec.features(joined, 0, keys.intermediate);
  ffn.up = spec.features(joined, keys.intermediate, 2 * keys.intermediate);
  if (keys.normsQueries)
    std::swap(ffn.gate, ffn.up);
  spec.addZeroBias(ffn.gate, path + ".gate");
  spec.addZeroBias(ffn.up, path + ".up");
  ffn.down = spec.linear(path + (keys.normsQueries ? ".down_layer" : ".wo"), keys.intermediate, keys.hidden);
  ffn.activation = keys.gate;
  layer.ffnNorm = spec.norm(keys.normsQueries ? layer.path + ".layer_norm_2" : path + ".layernorm", keys.hidden, keys.epsilon);
}

static LayerSpec declareJinaBertLayer(TransformerSpec &spec, const JinaKeys &keys, const std::string &path) {
  LayerSpec layer;
  layer.path = path;
  const std::string own = path + ".attention.self.";
  layer.attention = declareWholeAttention(spec, keys, path + ".attention", {"self.query", "self.key", "self.value", "output.dense"});
  NormSpec norm = spec.norm(path + ".attention.output.LayerNorm", keys.hidden, keys.epsilon);
  layer.attentionNorm = norm;
  if (keys.normsQueries) {
    for (auto [head, name] : {std::pair(&layer.attention->queryNorm, "layer_norm_q"), std::pair(&layer.attention->keyNorm, "layer_norm_k")})
      *head = {spec.norm(own + name, keys.hidden, keys.epsilon), HeadNormSpec::Projection, noWeight};
    layer.attentionResultNorm = norm;
    layer.attentionNorm = spec.norm(path + ".layer_norm_1", keys.hidden, keys.epsilon);
  }
  declareFfn(spec, keys, layer);
  return layer;
}

static void declareJinaBertModel(TransformerSpec &spec, const JinaKeys &keys, const std::string &prefix) {
  StackSpec &stack = declareBertStack(spec, keys);
  declareBertEmbeddings(spec, keys, prefix);
  declareBertInputs(spec, keys);
  llvm::erase_if(spec.inputs, [](const InputSpec &input) { return input.role == InputRole::Positions; });
  stack.distanceBias.emplace().slopes = spec.computed(prefix + "alibi_slopes", {keys.heads}, "alibi_slopes", {});
  for (int64_t i = 0; i < keys.layers; ++i)
    stack.layers.push_back(declareJinaBertLayer(spec, keys, prefix + "encoder.layer." + std::to_string(i)));
}

Result<TransformerSpec> attune::readJinaBertSpec(const Config &config) {
  static const EncoderHeads<JinaKeys> heads = {
      {"JinaBertModel", declareBertOutputs},
      {"JinaBertForMaskedLM", declareBertMaskedLM},
      {"JinaBertForSequenceClassification", declareBertClassification},
      {"JinaBertForTokenClassification", declareTokenClassification},
      {"JinaBertForQuestionAnswering", declareQuestionAnswering},
      {"JinaBertForMultipleChoice", declarePooledMultipleChoice},
  };
  return readBertLike(
      config, "bert", "bert.", heads, [&](ConfigReader &reader) { return readJinaBertKeys(reader, config); }, declareJinaBertModel);
}
