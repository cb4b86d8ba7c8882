//===- Families.cpp - The table of model families ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/Families.h"
#include "compiler/Import/Config.h"

using namespace attune;

llvm::ArrayRef<Family> attune::modelFamilies() {
  static constexpr Family families[] = {
      {"albert", readAlbertSpec},
      {"bart", readBartSpec},
      {"bert", readBertSpec},
      {"blenderbot", readBlenderbotSpec},
      {"blenderbot-small", readBlenderbotSmallSpec},
      {"bloom", readBloomSpec},
      {"camembert", readCamembertSpec},
      {"codegen", readCodeGenSpec},
      {"cohere", readCohereSpec},
      {"cohere2", readCohere2Spec},
      {"deberta", readDebertaSpec},
      {"deberta-v2", readDebertaV2Spec},
      {"distilbert", readDistilBertSpec},
      {"dpr", readDprSpec},
      {"electra", readElectraSpec},
      {"esm", readEsmSpec},
      {"falcon", readFalconSpec},
      {"gemma", readGemmaSpec},
      {"gemma2", readGemma2Spec},
      {"gemma3_text", readGemma3Spec},
      {"gpt2", readGpt2Spec},
      {"gpt_bigcode", readGptBigCodeSpec},
      {"gpt_neo", readGptNeoSpec},
      {"gpt_neox", readGptNeoXSpec},
      {"gpt_oss", readGptOssSpec},
      {"gptj", readGptJSpec},
      {"granite", readGraniteSpec},
      {"gte", readGteSpec},
      {"layoutlm", readLayoutLMSpec},
      {"llama", readLlamaSpec},
      {"m2m_100", readM2M100Spec},
      {"marian", readMarianSpec},
      {"mbart", readMBartSpec},
      {"mimo", readMiMoSpec},
      {"ministral", readMinistralSpec},
      {"mistral", readMistralSpec},
      {"mixtral", readMixtralSpec},
      {"modernbert", readModernBertSpec},
      {"mpnet", readMPNetSpec},
      {"mpt", readMptSpec},
      {"mt5", readMT5Spec},
      {"multi_head_attention", readMultiHeadAttentionSpec},
      {"new", readNewSpec},
      {"nomic_bert", readNomicBertSpec},
      {"olmo", readOlmoSpec},
      {"olmo2", readOlmo2Spec},
      {"olmo3", readOlmo3Spec},
      {"opt", readOptSpec},
      {"pegasus", readPegasusSpec},
      {"phi", readPhiSpec},
      {"phi3", readPhi3Spec},
      {"qwen2", readQwen2Spec},
      {"qwen2_moe", readQwen2MoeSpec},
      {"qwen3", readQwen3Spec},
      {"qwen3_moe", readQwen3MoeSpec},
      {"roberta", readRobertaSpec},
      {"self_attention", readSelfAttentionSpec},
      {"smollm3", readSmolLM3Spec},
      {"stablelm", readStableLmSpec},
      {"starcoder2", readStarcoder2Spec},
      {"t5", readT5Spec},
      {"transformer", readPlainTransformerSpec},
      {"umt5", readUMT5Spec},
      {"vit", readVitSpec},
      {"xlm-roberta", readXlmRobertaSpec},
      {"xlm-roberta-xl", readXlmRobertaXlSpec},
  };
  return families;
}

ConfigTrace attune::traceFamily(const Family &family, bool everyClass) {
  auto trace = std::make_shared<ConfigTrace>();
  // Ignores the result of the reader: the trace has the keys that it read until it failed.
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
  spec->labels = reader.labelNames(spec->classes);
  if (reader.status().failed())
    return reader.status();
  return spec;
}
