//===- Families.cpp - The table of model families ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/Families.h"
#include "compiler/Import/Config.h"

using namespace attune;

Result<TransformerSpec> attune::readTransformerSpec(const Config &config) {
  static constexpr std::pair<const char *, Result<TransformerSpec> (*)(const Config &)> families[] = {
      {"bart", readBartSpec},
      {"bert", readBertSpec},
      {"distilbert", readDistilBertSpec},
      {"gpt2", readGpt2Spec},
      {"llama", readLlamaSpec},
      {"marian", readMarianSpec},
      {"multi_head_attention", readMultiHeadAttentionSpec},
      {"roberta", readRobertaSpec},
      {"self_attention", readSelfAttentionSpec},
      {"t5", readT5Spec},
      {"transformer", readPlainTransformerSpec},
      {"vit", readVitSpec},
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
