//===- Gte.cpp - GTE and the code published as "new" ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// BERT with rotary embeddings and gated feed-forwards. The model type "new" is that of the code that was published with
// the first models; transformers calls the model "gte". The keys of that code are accepted in files of the type "gte",
// too. Tensors of both types have the same names, but for the prefix.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/BertBase.h"
#include "compiler/Support/Strings.h"

using namespace attune;

namespace {

struct GteKeys : BertKeys {
  bool joinedProjections, rmsNorms;
  LanguageHeadParts languageHead;
};

} // namespace

/// Reads the keys; |isNew| is true for the model type "new".
static GteKeys readGteKeys(ConfigReader &reader, const Config &config, bool isNew) {
  static constexpr std::pair<const char *, bool> positions[] = {{"rope", false}, {"absolute", true}};
  static constexpr std::pair<const char *, bool> norms[] = {{"layer_norm", false}, {"rms_norm", true}};
  GteKeys keys = {};
  constexpr IntegerRange size = {1, 1 << 24}, layers = {0, 1 << 12}, ids = {1, int64_t(1) << 31};
  keys.vocab = reader.integer("vocab_size", isNew ? 30528 : 250048, ids);
  keys.hidden = keys.embedding = reader.integer("hidden_size", 768, size);
  keys.layers = reader.integer("num_hidden_layers", 12, layers);
  keys.heads = reader.integer("num_attention_heads", 12, size);
  keys.intermediate = reader.integer("intermediate_size", 3072, size);
  keys.positions = reader.integer("max_position_embeddings", isNew ? 2048 : 8192, size);
  keys.types = reader.integer("type_vocab_size", 1, {0, ids.max});
  keys.epsilon = reader.number("layer_norm_eps", 1e-12, 0, 1);
  keys.dropout = reader.number("hidden_dropout_prob", 0.1, 0, 1);
  keys.classifierDropout = reader.present("classifier_dropout") ? reader.number("classifier_dropout", 0, 0, 1) : keys.dropout;
  keys.activation = readActivation(reader, "hidden_act", "gelu");
  keys.tied = reader.flag("tie_word_embeddings", true);
  keys.labels = reader.labels();
  const auto *position = reader.choose("position_embedding_type", reader.string("position_embedding_type", "rope"), positions);
  keys.positionTable = position && position->second;
  const auto *norm = reader.choose("layer_norm_type", reader.string("layer_norm_type", "layer_norm"), norms);
  keys.rmsNorms = norm && norm->second;
  keys.joinedProjections = reader.flag("pack_qkv", true);
  keys.languageHead.norm = "norm", keys.languageHead.otherNorm = "layer_norm";
  keys.languageHead.hasDecoderBias = true;
  // In the language head, transformers always uses the exact GELU and ignores `hidden_act`; the code of "new" reads it.
  if (isNew)
    keys.languageHead.activation = keys.activation;
  reader.reject("logn_attention_scale", "scores that depend on the length of a sequence are not implemented");
  reader.reject("is_decoder", "the family has no decoder");
  rejectPrunedHeads(reader);
  if (keys.hidden % keys.heads != 0)
    reader.fail("hidden_size", "a multiple of 'num_attention_heads', which is " + std::to_string(keys.heads));
  int64_t headSize = keys.hidden / keys.heads;
  if (reader.integerOrNull("head_dim", headSize, size) != headSize)
    reader.fail("head_dim", std::to_string(headSize) + ", the features of a head");
  RopeDefaults rope;
  rope.theta = isNew ? 10000 : 160000;
  rope.ntk = true;
  if (!keys.positionTable)
    keys.rope = readRope(reader, config, headSize, keys.positions, rope);
  return keys;
}

static NormSpec declareGteNorm(TransformerSpec &spec, const GteKeys &keys, const std::string &name, const std::string &newName) {
  NormSpec norm = keys.rmsNorms ? spec.rmsNorm(name, keys.hidden, keys.epsilon) : spec.norm(name, keys.hidden, keys.epsilon);
  spec.addName(norm, newName);
  return norm;
}

/// Declares the layer |path|, which is called |newPath| in files with the names of transformers' modules. |rotary| is
/// noWeight in a model with a table of positions.
static LayerSpec declareGteLayer(TransformerSpec &spec, const GteKeys &keys, const std::string &path, const std::string &newPath,
                                 WeightId rotary) {
  LayerSpec layer;
  layer.path = path;
  AttentionSpec &attention = layer.attention.emplace();
  const std::string own = newPath + ".self_attn.", older = path + ".attention.", ffnPath = newPath + ".mlp.";
  if (keys.joinedProjections) {
    const std::vector<std::string> parts = {own + "q_proj", own + "k_proj", own + "v_proj"};
    LinearSpec joined = spec.joinedLinear(older + "qkv_proj", parts, keys.hidden, 3 * keys.hidden, /*bias=*/true);
    spec.splitByPart(attention, joined, keys.heads, keys.heads);
    attention.output = spec.linear(older + "o_proj", keys.hidden, keys.hidden);
  } else {
    attention = declareWholeAttention(spec, keys, path + ".attention", {"q_proj", "k_proj", "v_proj", "o_proj"});
  }
  spec.addName(attention.output, own + "o_proj");
  setWholeAttention(attention, keys);
  attention.rotary = rotary;
  layer.attentionNorm = declareGteNorm(spec, keys, path + ".attn_ln", newPath + ".post_attention_layernorm");
  FfnSpec &ffn = layer.ffn.emplace();
  LinearSpec upAndGate = spec.joinedLinear(path + ".mlp.up_gate_proj", {ffnPath + "up_proj", ffnPath + "gate_proj"}, keys.hidden,
                                           2 * keys.intermediate, /*bias=*/false);
  ffn.up = spec.features(upAndGate, 0, keys.intermediate);
  ffn.gate = spec.features(upAndGate, keys.intermediate, 2 * keys.intermediate);
  spec.addZeroBias(ffn.up, path + ".mlp.up_proj");
  spec.addZeroBias(ffn.gate, path + ".mlp.gate_proj");
  ffn.down = spec.linear(path + ".mlp.down_proj", keys.intermediate, keys.hidden);
  spec.addName(ffn.down, ffnPath + "down_proj");
  ffn.activation = keys.activation;
  layer.ffnNorm = declareGteNorm(spec, keys, path + ".mlp_ln", newPath + ".post_mlp_layernorm");
  return layer;
}

static void declareGteModel(TransformerSpec &spec, const GteKeys &keys, const std::string &prefix) {
  StackSpec &stack = declareBertStack(spec, keys);
  declareBertEmbeddings(spec, keys, prefix);
  declareBertInputs(spec, keys);
  WeightId rotary = keys.rope ? declareRope(spec, prefix + "rotary_emb", *keys.rope, keys.positions) : noWeight;
  for (int64_t i = 0; i < keys.layers; ++i)
    stack.layers.push_back(
        declareGteLayer(spec, keys, prefix + "encoder.layer." + std::to_string(i), prefix + "layers." + std::to_string(i), rotary));
}

static void declareGteMaskedLM(TransformerSpec &spec, const GteKeys &keys, const std::string &) {
  declareLanguageHead(spec, keys, keys.languageHead);
}

/// Adds to each tensor an alias: its name with |other| in place of |prefix|, or |other| before a name without |prefix|.
static void addPrefix(TransformerSpec &spec, const std::string &prefix, const std::string &other) {
  for (size_t id = 0; id < spec.weights.size(); ++id) {
    const std::string name = spec.weights[id].name;
    if (spec.weights[id].kind == WeightSpec::Tensor)
      spec.addAlias(WeightId(id), other + (startsWith(name, prefix) ? name.substr(prefix.size()) : name));
  }
}

Result<TransformerSpec> attune::readGteSpec(const Config &config) {
  static const EncoderHeads<GteKeys> heads = {
      {"GteModel", declareLastState},
      {"GteForMaskedLM", declareGteMaskedLM},
      {"GteForSequenceClassification", declareBertClassification},
      {"GteForTokenClassification", declareTokenClassification},
  };
  auto read = [&](ConfigReader &reader) { return readGteKeys(reader, config, /*isNew=*/false); };
  Result<TransformerSpec> spec = readBertLike(config, "gte", "gte.", heads, read, declareGteModel);
  if (spec)
    addPrefix(*spec, "gte.", "new.");
  return spec;
}

Result<TransformerSpec> attune::readNewSpec(const Config &config) {
  static const EncoderHeads<GteKeys> heads = {
      {"NewModel", declareLastState},
      {"NewForMaskedLM", declareGteMaskedLM},
      {"NewForSequenceClassification", declareBertClassification},
      {"NewForTokenClassification", declareTokenClassification},
      {"NewForQuestionAnswering", declareQuestionAnswering},
      {"NewForMultipleChoice", declarePooledMultipleChoice},
  };
  auto read = [&](ConfigReader &reader) { return readGteKeys(reader, config, /*isNew=*/true); };
  return readBertLike(config, "new", "new.", heads, read, declareGteModel);
}
