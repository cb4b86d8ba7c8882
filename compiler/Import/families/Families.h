//===- Families.h - One reader per model family -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each function turns a config.json whose `model_type` is the family's into a TransformerSpec.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_FAMILIES_FAMILIES_H
#define ATTUNE_IMPORT_FAMILIES_FAMILIES_H

#include "compiler/Import/TransformerSpec.h"

namespace attune {

Result<TransformerSpec> readBartSpec(const Config &config);
Result<TransformerSpec> readBertSpec(const Config &config);
Result<TransformerSpec> readDistilBertSpec(const Config &config);
Result<TransformerSpec> readGpt2Spec(const Config &config);
Result<TransformerSpec> readLlamaSpec(const Config &config);
Result<TransformerSpec> readMarianSpec(const Config &config);
Result<TransformerSpec> readMultiHeadAttentionSpec(const Config &config);
/// The encoder and decoder over feature vectors.
Result<TransformerSpec> readPlainTransformerSpec(const Config &config);
Result<TransformerSpec> readRobertaSpec(const Config &config);
Result<TransformerSpec> readSelfAttentionSpec(const Config &config);
Result<TransformerSpec> readT5Spec(const Config &config);
Result<TransformerSpec> readVitSpec(const Config &config);

/// Reads the description of any supported model.
Result<TransformerSpec> readTransformerSpec(const Config &config);

} // namespace attune

#endif // ATTUNE_IMPORT_FAMILIES_FAMILIES_H
