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

/// Sets the embedding of |spec|, the model in |folder|, to the output that the sentence-transformers modules of
/// |folder| describe. Sets no embedding if there are no modules behind the transformer, or if the model has two stacks
/// and is not T5, mT5 or UMT5. The tensor T of the module in the subfolder M is called "M.T". Fails if a module or a
/// setting is not implemented or wrong.
Status declareEmbedding(const std::string &folder, TransformerSpec &spec);
/// Returns the mean over tokens, the embedding of a model whose folder does not say which one it has.
OutputSpec meanEmbedding();
/// Returns the embedding that pools the last hidden states by |kind|.
OutputSpec pooledEmbedding(mlir::xfmr::PoolKind kind);
/// Returns |spec| with its embedding, or meanEmbedding() if it declares none, as the only output, and without the
/// inputs and stacks that the embedding does not need. Fails if the model has no input of token ids, or if it has two
/// stacks and is not T5, mT5 or UMT5.
Result<TransformerSpec> makeEmbeddingSpec(const TransformerSpec &spec);

/// Returns |base| joined with the tensors of the modules of |folder|.
Result<std::unique_ptr<TensorProvider>> joinModuleTensors(const std::string &folder, std::unique_ptr<TensorProvider> base);
/// Splits |name|, the name of a tensor: removes the folder of its module, relative to |folder|, and the dot after it
/// from |name|, and returns this folder. For tensors of the transformer, returns "" and keeps |name|.
std::string splitModuleFolder(const std::string &folder, std::string &name);
/// Appends the settings files of the modules of |folder|, present or not, to |settings|, and the files with their
/// tensors to |tensors|.
void listModuleFiles(const std::string &folder, std::vector<std::string> &settings, std::vector<std::string> &tensors);

} // namespace attune

#endif // ATTUNE_IMPORT_SENTENCEEMBEDDING_H
