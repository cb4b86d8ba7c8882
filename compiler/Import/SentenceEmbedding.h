//===- SentenceEmbedding.h - One vector of a text ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The modules of a sentence-transformers folder behind its transformer (pooling, dense layers and norms) as the output
// of the entry `embed`.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_SENTENCEEMBEDDING_H
#define ATTUNE_IMPORT_SENTENCEEMBEDDING_H

#include "compiler/Import/TransformerSpec.h"
#include "compiler/Weights/TensorProvider.h"

namespace attune {

/// The name of the entry that computes the vector of a text, and the name of its output.
inline constexpr const char *embedEntry = "embed", *embedOutput = "sentence_embedding";

/// Sets the embedding of |spec|, the model in |folder|, to that which the sentence-transformers modules of |folder|
/// describe; does nothing if it has no modules behind the transformer. A tensor T of the module in the folder M is
/// called "M.T". Declares none for models with two stacks but T5, mT5 and UMT5. Fails if a module or a setting is not
/// implemented or wrong.
Status declareEmbedding(const std::string &folder, TransformerSpec &spec);
/// Returns the mean over tokens, the embedding of a model whose folder does not say which one it has.
OutputSpec meanEmbedding();
/// Returns the embedding that pools the last hidden states by |kind|.
OutputSpec pooledEmbedding(mlir::xfmr::PoolKind kind);
/// Returns |spec| with the embedding, meanEmbedding() if it declares none, as its only output, and without inputs and
/// stacks that the embedding does not need. Fails if the model has no input of token ids, or if it has two stacks and
/// is not T5, mT5 or UMT5.
Result<TransformerSpec> makeEmbeddingSpec(const TransformerSpec &spec);

/// Returns |base| joined with the tensors of the modules of |folder|.
Result<std::unique_ptr<TensorProvider>> joinModuleTensors(const std::string &folder, std::unique_ptr<TensorProvider> base);
/// Splits the |name| of a tensor: returns the folder of its module, relative to that of the model, and removes this and
/// the dot after it from |name|. Returns "" for tensors of the transformer.
std::string splitModuleFolder(const std::string &folder, std::string &name);
/// Appends the settings files of the modules of |folder|, present or not, to |settings|, and the files with their
/// tensors to |tensors|.
void listModuleFiles(const std::string &folder, std::vector<std::string> &settings, std::vector<std::string> &tensors);

} // namespace attune

#endif // ATTUNE_IMPORT_SENTENCEEMBEDDING_H
