//===- BertKin.cpp - ERNIE, Megatron's BERT, BERT for generation --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// ERNIE is BERT with an embedding of kinds of tasks, Megatron's BERT has norms before its branches, and BERT for
// generation has no token types and no pooler.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/BertBase.h"

using namespace attune;

namespace {

struct ErnieKeys : BertKeys {
  /// The number of kinds of tasks, each with an embedding; 0 if there are none.
  int64_t tasks;
};

} // namespace

/// Returns the classes |heads| of BERT for a family whose keys are |Keys|, a class derived from BertKeys.
template <typename Keys>
static EncoderHeads<Keys> withKeys(const BertHeads &heads) {
  EncoderHeads<Keys> result;
  for (const auto &[name, declare] : heads)
    result.emplace_back(name, declare);
  return result;
}

Result<TransformerSpec> attune::readErnieSpec(const Config &config) {
  static const EncoderHeads<ErnieKeys> heads = withKeys<ErnieKeys>(bertHeads("Ernie", "ForCausalLM"));
  auto readKeys = [](ConfigReader &reader) {
    ErnieKeys keys;
    static_cast<BertKeys &>(keys) = readBertKeys(reader);
    int64_t tasks = reader.integer("task_type_vocab_size", 3, {1, int64_t(1) << 31});
    keys.tasks = reader.flag("use_task_id", false) ? tasks : 0;
    return keys;
  };
  auto declare = [](TransformerSpec &spec, const ErnieKeys &keys, const std::string &prefix) {
    declareBertModel(spec, keys, prefix);
    if (keys.tasks == 0)
      return;
    bertStack(spec).embeddings.tasks = spec.tensor(prefix + "embeddings.task_type_embeddings.weight", {keys.tasks, keys.hidden});
    spec.inputs.push_back({"task_type_ids", InputRole::TaskTypes, keys.tasks, /*standard=*/false, spec.mainStack()});
  };
  return readBertLike(config, "ernie", "ernie.", heads, readKeys, declare);
}

/// Reads the keys of a configuration class whose defaults are the sizes of BERT-large, with |vocab| words.
static BertKeys readLargeKeys(ConfigReader &reader, int64_t vocab) {
  return readBertKeys(reader, {vocab, 1024, 24, 16, 4096});
}

Result<TransformerSpec> attune::readMegatronBertSpec(const Config &config) {
  static const BertHeads heads = bertHeads("MegatronBert", "ForCausalLM");
  auto readKeys = [](ConfigReader &reader) {
    BertKeys keys = readLargeKeys(reader, 29056);
    keys.embeddingNorm = nullptr;
    keys.attentionNorm = keys.ffnNorm = "ln", keys.lastNorm = "encoder.ln";
    return keys;
  };
  return readBertLike(config, "megatron-bert", "bert.", heads, readKeys, declareBertModel);
}

/// Declares the scores of words: a projection of the last hidden state, without the dense layer, the activation and the
/// norm of BERT's head.
static void declareWordScores(TransformerSpec &spec, const BertKeys &keys, const std::string &) {
  LinearSpec words;
  words.bias = bertDecoderBias(spec, keys.vocab, "lm_head", keys.tied);
  words.weight = bertDecoderTable(spec, keys, "lm_head.decoder.weight");
  spec.outputs.push_back({"logits", {linearStep(words, "lm_head.decoder")}});
}

Result<TransformerSpec> attune::readBertGenerationSpec(const Config &config) {
  static const BertHeads heads = {{"BertGenerationEncoder", declareLastState}, {"BertGenerationDecoder", declareWordScores}};
  auto readKeys = [](ConfigReader &reader) {
    BertKeys keys = readLargeKeys(reader, 50358);
    keys.types = 0;
    return keys;
  };
  return readBertLike(config, "bert-generation", "bert.", heads, readKeys, declareBertModel);
}
