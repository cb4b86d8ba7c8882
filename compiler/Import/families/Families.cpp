//===- Families.cpp - The table of model families ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/Families.h"
#include "compiler/Import/Config.h"

#include <algorithm>

using namespace attune;

llvm::ArrayRef<Family> attune::modelFamilies() {
  static constexpr Family families[] = {
      {"albert", readAlbertSpec},
      {"arcee", readArceeSpec},
      {"baichuan", readBaichuanSpec},
      {"bart", readBartSpec},
      {"bert", readBertSpec},
      {"bert-generation", readBertGenerationSpec},
      {"big_bird", readBigBirdSpec},
      {"biogpt", readBioGptSpec},
      {"blenderbot", readBlenderbotSpec},
      {"blenderbot-small", readBlenderbotSmallSpec},
      {"bloom", readBloomSpec},
      {"camembert", readCamembertSpec},
      {"chatglm", readChatGlmSpec},
      {"codegen", readCodeGenSpec},
      {"cohere", readCohereSpec},
      {"cohere2", readCohere2Spec},
      {"data2vec-text", readData2VecTextSpec},
      {"deberta", readDebertaSpec},
      {"deberta-v2", readDebertaV2Spec},
      {"deepseek_v2", readDeepseekV2Spec},
      {"deepseek_v3", readDeepseekV3Spec},
      {"distilbert", readDistilBertSpec},
      {"dpr", readDprSpec},
      {"electra", readElectraSpec},
      {"ernie", readErnieSpec},
      {"ernie4_5", readErnie45Spec},
      {"esm", readEsmSpec},
      {"eurobert", readEuroBertSpec},
      {"exaone", readExaoneSpec},
      {"exaone4", readExaone4Spec},
      {"falcon", readFalconSpec},
      {"flaubert", readFlaubertSpec},
      {"gemma", readGemmaSpec},
      {"gemma2", readGemma2Spec},
      {"gemma3", readGemma3CompositeSpec},
      {"gemma3_text", readGemma3Spec},
      {"glm", readGlmSpec},
      {"glm4", readGlm4Spec},
      {"glm4_moe", readGlm4MoeSpec},
      {"gpt2", readGpt2Spec},
      {"gpt_bigcode", readGptBigCodeSpec},
      {"gpt_neo", readGptNeoSpec},
      {"gpt_neox", readGptNeoXSpec},
      {"gpt_oss", readGptOssSpec},
      {"gptj", readGptJSpec},
      {"granite", readGraniteSpec},
      {"granitemoe", readGraniteMoeSpec},
      {"granitemoeshared", readGraniteMoeSharedSpec},
      {"gte", readGteSpec},
      {"helium", readHeliumSpec},
      {"hunyuan_v1_dense", readHunYuanSpec},
      {"internlm2", readInternLM2Spec},
      {"layoutlm", readLayoutLMSpec},
      {"llama", readLlamaSpec},
      {"llava", readLlavaSpec},
      {"llava_next", readLlavaNextSpec},
      {"longformer", readLongformerSpec},
      {"m2m_100", readM2M100Spec},
      {"marian", readMarianSpec},
      {"mbart", readMBartSpec},
      {"megatron-bert", readMegatronBertSpec},
      {"mimo", readMiMoSpec},
      {"minicpm", readMiniCpmSpec},
      {"ministral", readMinistralSpec},
      {"mistral", readMistralSpec},
      {"mistral3", readMistral3Spec},
      {"mixtral", readMixtralSpec},
      {"modernbert", readModernBertSpec},
      {"mpnet", readMPNetSpec},
      {"mpt", readMptSpec},
      {"mt5", readMT5Spec},
      {"multi_head_attention", readMultiHeadAttentionSpec},
      {"nemotron", readNemotronSpec},
      {"new", readNewSpec},
      {"nomic_bert", readNomicBertSpec},
      {"olmo", readOlmoSpec},
      {"olmo2", readOlmo2Spec},
      {"olmo3", readOlmo3Spec},
      {"olmoe", readOlmoeSpec},
      {"openai-gpt", readOpenAiGptSpec},
      {"opt", readOptSpec},
      {"pegasus", readPegasusSpec},
      {"persimmon", readPersimmonSpec},
      {"phi", readPhiSpec},
      {"phi3", readPhi3Spec},
      {"qwen2", readQwen2Spec},
      {"qwen2_5_vl", readQwen25VlSpec},
      {"qwen2_moe", readQwen2MoeSpec},
      {"qwen2_vl", readQwen2VlSpec},
      {"qwen3", readQwen3Spec},
      {"qwen3_moe", readQwen3MoeSpec},
      {"rembert", readRemBertSpec},
      {"roberta", readRobertaSpec},
      {"roberta-prelayernorm", readRobertaPreLayerNormSpec},
      {"roformer", readRoFormerSpec},
      {"seed_oss", readSeedOssSpec},
      {"self_attention", readSelfAttentionSpec},
      {"smollm3", readSmolLM3Spec},
      {"squeezebert", readSqueezeBertSpec},
      {"stablelm", readStableLmSpec},
      {"starcoder2", readStarcoder2Spec},
      {"t5", readT5Spec},
      {"transformer", readPlainTransformerSpec},
      {"umt5", readUMT5Spec},
      {"vit", readVitSpec},
      {"xglm", readXglmSpec},
      {"xlm", readXlmSpec},
      {"xlm-roberta", readXlmRobertaSpec},
      {"xlm-roberta-xl", readXlmRobertaXlSpec},
  };
  return families;
}

ConfigTrace attune::traceFamily(const Family &family, bool everyClass) {
  auto trace = std::make_shared<ConfigTrace>();
  // Ignores the result of the reader: if the reader fails, the trace has the keys that it read before.
  auto read = [&](const Json &values) {
    Config config = Config::create(family.first, values);
    config.setTrace(trace);
    (void)family.second(config);
  };
  const Json values = {{"model_type", family.first}};
  read(values);
  if (everyClass)
    for (const std::string &name : std::vector<std::string>(trace->classes)) {
      Json of = values;
      of["architectures"] = {name};
      read(of);
    }
  return std::move(*trace);
}

Result<TransformerSpec> attune::readTransformerSpec(const Config &config) {
  ConfigReader reader(config);
  std::string type = reader.string("model_type");
  if (reader.status().failed())
    return reader.status();
  const auto *family = reader.choose("model_type", type, modelFamilies());
  if (!family)
    return reader.status();
  Result<TransformerSpec> spec = family->second(config);
  if (!spec)
    return spec;
  declarePast(*spec);
  reader.reject("per_layer_config", "layers with settings of their own are not implemented");
  if (reader.present("tie_last_hidden_states") && !isOfVersion4(spec->family) && !reader.flag("tie_last_hidden_states", true))
    reader.fail("tie_last_hidden_states", "true: the last of 'hidden_states' without the last norm is not implemented");
  spec->labels = reader.labelNames(spec->classes);
  if (reader.status().failed())
    return reader.status();
  return spec;
}

bool attune::isOfVersion4(const std::string &family) {
  static constexpr const char *families[] = {"bart", "bert", "distilbert", "gpt2", "llama", "marian", "roberta", "t5", "vit"};
  return std::find(std::begin(families), std::end(families), family) != std::end(families);
}
