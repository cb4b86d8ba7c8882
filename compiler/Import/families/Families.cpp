//===- Families.cpp - The table of model families ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/Families.h"
#include "compiler/Import/Config.h"

using namespace attune;

Result<TransformerSpec> attune::readTransformerSpec(const Config &config) {
  static constexpr std::pair<const char *, Result<TransformerSpec> (*)(const Config &)> families[] = {
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
      {"gptj", readGptJSpec},
      {"granite", readGraniteSpec},
      {"gte", readGteSpec},
      {"layoutlm", readLayoutLMSpec},
      {"llama", readLlamaSpec},
      {"m2m_100", readM2M100Spec},
      {"marian", readMarianSpec},
      {"mbart", readMBartSpec},
      {"mistral", readMistralSpec},
      {"modernbert", readModernBertSpec},
      {"mpnet", readMPNetSpec},
      {"mpt", readMptSpec},
      {"mt5", readMT5Spec},
      {"multi_head_attention", readMultiHeadAttentionSpec},
      {"new", readNewSpec},
      {"nomic_bert", readNomicBertSpec},
      {"olmo", readOlmoSpec},
      {"olmo2", readOlmo2Spec},
      {"pegasus", readPegasusSpec},
      {"phi", readPhiSpec},
      {"phi3", readPhi3Spec},
      {"qwen2", readQwen2Spec},
      {"qwen3", readQwen3Spec},
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
  ConfigReader reader(config);
  std::string type = reader.string("model_type");
  if (reader.status().failed())
    return reader.status();
  const auto *family = reader.choose("model_type", type, families);
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
