//===- Families.h - One reader per model family -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Functions that read the config.json of a family into a TransformerSpec.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_FAMILIES_FAMILIES_H
#define ATTUNE_IMPORT_FAMILIES_FAMILIES_H

#include "compiler/Import/Config.h"
#include "compiler/Import/TransformerSpec.h"
#include "llvm/ADT/ArrayRef.h"

namespace attune {

/// Returns true if models of |family| compute what transformers 4 computes, false if they compute what transformers 5
/// computes (docs/reference-versions.md).
bool isOfVersion4(const std::string &family);

Result<TransformerSpec> readAlbertSpec(const Config &config);
Result<TransformerSpec> readArceeSpec(const Config &config);
Result<TransformerSpec> readBaichuanSpec(const Config &config);
Result<TransformerSpec> readBartSpec(const Config &config);
Result<TransformerSpec> readBertSpec(const Config &config);
Result<TransformerSpec> readBertGenerationSpec(const Config &config);
Result<TransformerSpec> readBigBirdSpec(const Config &config);
Result<TransformerSpec> readBioGptSpec(const Config &config);
Result<TransformerSpec> readBlenderbotSpec(const Config &config);
Result<TransformerSpec> readBlenderbotSmallSpec(const Config &config);
Result<TransformerSpec> readBloomSpec(const Config &config);
Result<TransformerSpec> readCamembertSpec(const Config &config);
Result<TransformerSpec> readChatGlmSpec(const Config &config);
Result<TransformerSpec> readCodeGenSpec(const Config &config);
Result<TransformerSpec> readCohereSpec(const Config &config);
Result<TransformerSpec> readCohere2Spec(const Config &config);
Result<TransformerSpec> readData2VecTextSpec(const Config &config);
Result<TransformerSpec> readDebertaSpec(const Config &config);
Result<TransformerSpec> readDebertaV2Spec(const Config &config);
Result<TransformerSpec> readDeepseekV2Spec(const Config &config);
Result<TransformerSpec> readDeepseekV3Spec(const Config &config);
Result<TransformerSpec> readDistilBertSpec(const Config &config);
Result<TransformerSpec> readDprSpec(const Config &config);
Result<TransformerSpec> readElectraSpec(const Config &config);
Result<TransformerSpec> readErnieSpec(const Config &config);
Result<TransformerSpec> readErnie45Spec(const Config &config);
Result<TransformerSpec> readEsmSpec(const Config &config);
Result<TransformerSpec> readEuroBertSpec(const Config &config);
Result<TransformerSpec> readExaoneSpec(const Config &config);
Result<TransformerSpec> readExaone4Spec(const Config &config);
Result<TransformerSpec> readFalconSpec(const Config &config);
Result<TransformerSpec> readFlaubertSpec(const Config &config);
Result<TransformerSpec> readGemmaSpec(const Config &config);
Result<TransformerSpec> readGemma2Spec(const Config &config);
Result<TransformerSpec> readGemma3Spec(const Config &config);
Result<TransformerSpec> readGemma3CompositeSpec(const Config &config);
Result<TransformerSpec> readGlmSpec(const Config &config);
Result<TransformerSpec> readGlm4Spec(const Config &config);
Result<TransformerSpec> readGlm4MoeSpec(const Config &config);
Result<TransformerSpec> readGpt2Spec(const Config &config);
Result<TransformerSpec> readGptBigCodeSpec(const Config &config);
Result<TransformerSpec> readGptOssSpec(const Config &config);
Result<TransformerSpec> readGptJSpec(const Config &config);
Result<TransformerSpec> readGptNeoSpec(const Config &config);
Result<TransformerSpec> readGptNeoXSpec(const Config &config);
Result<TransformerSpec> readGraniteSpec(const Config &config);
Result<TransformerSpec> readGraniteMoeSpec(const Config &config);
Result<TransformerSpec> readGraniteMoeSharedSpec(const Config &config);
Result<TransformerSpec> readGteSpec(const Config &config);
Result<TransformerSpec> readHeliumSpec(const Config &config);
Result<TransformerSpec> readHunYuanSpec(const Config &config);
Result<TransformerSpec> readInternLM2Spec(const Config &config);
/// Reads JinaBERT, which is BERT with ALiBi. Its `model_type` is that of BERT, so readBertSpec calls this function.
Result<TransformerSpec> readJinaBertSpec(const Config &config);
Result<TransformerSpec> readLayoutLMSpec(const Config &config);
Result<TransformerSpec> readLlamaSpec(const Config &config);
Result<TransformerSpec> readLlavaSpec(const Config &config);
Result<TransformerSpec> readLlavaNextSpec(const Config &config);
Result<TransformerSpec> readLongformerSpec(const Config &config);
Result<TransformerSpec> readM2M100Spec(const Config &config);
Result<TransformerSpec> readMarianSpec(const Config &config);
Result<TransformerSpec> readMBartSpec(const Config &config);
Result<TransformerSpec> readMegatronBertSpec(const Config &config);
Result<TransformerSpec> readMiMoSpec(const Config &config);
Result<TransformerSpec> readMiniCpmSpec(const Config &config);
Result<TransformerSpec> readMinistralSpec(const Config &config);
Result<TransformerSpec> readMistralSpec(const Config &config);
Result<TransformerSpec> readMistral3Spec(const Config &config);
Result<TransformerSpec> readModernBertSpec(const Config &config);
Result<TransformerSpec> readMPNetSpec(const Config &config);
Result<TransformerSpec> readMixtralSpec(const Config &config);
Result<TransformerSpec> readMptSpec(const Config &config);
Result<TransformerSpec> readMT5Spec(const Config &config);
Result<TransformerSpec> readMultiHeadAttentionSpec(const Config &config);
Result<TransformerSpec> readNemotronSpec(const Config &config);
Result<TransformerSpec> readNewSpec(const Config &config);
Result<TransformerSpec> readNomicBertSpec(const Config &config);
Result<TransformerSpec> readOlmoSpec(const Config &config);
Result<TransformerSpec> readOlmo2Spec(const Config &config);
Result<TransformerSpec> readOlmo3Spec(const Config &config);
Result<TransformerSpec> readOlmoeSpec(const Config &config);
Result<TransformerSpec> readOpenAiGptSpec(const Config &config);
Result<TransformerSpec> readOptSpec(const Config &config);
Result<TransformerSpec> readPegasusSpec(const Config &config);
Result<TransformerSpec> readPersimmonSpec(const Config &config);
Result<TransformerSpec> readPhiSpec(const Config &config);
Result<TransformerSpec> readPhi3Spec(const Config &config);
/// Reads the family "transformer": an encoder and a decoder whose inputs are feature vectors instead of ids.
Result<TransformerSpec> readPlainTransformerSpec(const Config &config);
Result<TransformerSpec> readQwen2Spec(const Config &config);
Result<TransformerSpec> readQwen25VlSpec(const Config &config);
Result<TransformerSpec> readQwen2MoeSpec(const Config &config);
Result<TransformerSpec> readQwen2VlSpec(const Config &config);
Result<TransformerSpec> readQwen3Spec(const Config &config);
Result<TransformerSpec> readQwen3MoeSpec(const Config &config);
Result<TransformerSpec> readRemBertSpec(const Config &config);
Result<TransformerSpec> readRobertaSpec(const Config &config);
Result<TransformerSpec> readRobertaPreLayerNormSpec(const Config &config);
Result<TransformerSpec> readRoFormerSpec(const Config &config);
Result<TransformerSpec> readSeedOssSpec(const Config &config);
Result<TransformerSpec> readSelfAttentionSpec(const Config &config);
Result<TransformerSpec> readSmolLM3Spec(const Config &config);
Result<TransformerSpec> readSqueezeBertSpec(const Config &config);
Result<TransformerSpec> readStableLmSpec(const Config &config);
Result<TransformerSpec> readStarcoder2Spec(const Config &config);
Result<TransformerSpec> readT5Spec(const Config &config);
Result<TransformerSpec> readUMT5Spec(const Config &config);
Result<TransformerSpec> readVitSpec(const Config &config);
Result<TransformerSpec> readXglmSpec(const Config &config);
Result<TransformerSpec> readXlmSpec(const Config &config);
Result<TransformerSpec> readXlmRobertaSpec(const Config &config);
Result<TransformerSpec> readXlmRobertaXlSpec(const Config &config);

/// A family: the `model_type` of its configurations, and their reader.
using Family = std::pair<const char *, Result<TransformerSpec> (*)(const Config &config)>;
/// Returns all families, sorted by name.
llvm::ArrayRef<Family> modelFamilies();
/// Returns the keys that the reader of |family| reads, with their defaults, from a configuration that has no key but
/// `model_type`. If |everyClass|, also reads such a configuration for each class of the family, and returns the keys of
/// all readings.
ConfigTrace traceFamily(const Family &family, bool everyClass);

/// Reads the description of a model of any family: calls the reader of its `model_type`, declares inputs for keys and
/// values of earlier tokens (declarePast), and reads the keys that all families share, such as the names of labels.
/// Fails if `model_type` is missing or unknown, or if a key has a value that is refused.
Result<TransformerSpec> readTransformerSpec(const Config &config);

} // namespace attune

#endif // ATTUNE_IMPORT_FAMILIES_FAMILIES_H
