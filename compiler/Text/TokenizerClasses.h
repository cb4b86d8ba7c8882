//===- TokenizerClasses.h - The tokenizer classes of transformers ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of the classes are in WordPieceClasses.cpp, ByteLevelClasses.cpp, CharacterBpeClasses.cpp,
// UnigramClasses.cpp, PythonClasses.cpp, PythonPieceClasses.cpp and ContinuedBpeClasses.cpp.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_TOKENIZERCLASSES_H
#define ATTUNE_COMPILER_TEXT_TOKENIZERCLASSES_H

#include "compiler/Text/TokenizerBuilder.h"

namespace attune::text {

/// Returns the tokenizer class of the folder with these |arguments|, as transformers chooses it from
/// tokenizer_config.json, the model's config.json and tokenizer.json. If the folder names neither a class nor a type of
/// model with a class, its files decide. Fails for a class that is not supported.
Result<const TokenizerClass *> chooseTokenizerClass(const TokenizerArguments &arguments);

/// Returns the supported class whose name is exactly |name|, null if there is none. Other names of a class are not
/// resolved.
const TokenizerClass *findTokenizerClass(const std::string &name);

// Classes with a WordPiece model.
Status buildBert(TokenizerBuilder &builder);
Status buildDpr(TokenizerBuilder &builder);
Status buildMPNet(TokenizerBuilder &builder);
Status buildFunnel(TokenizerBuilder &builder);
Status buildSplinter(TokenizerBuilder &builder);

// Classes with a BPE model of bytes.
Status buildGpt2(TokenizerBuilder &builder);
Status buildCodeGen(TokenizerBuilder &builder);
Status buildRoberta(TokenizerBuilder &builder);
Status buildDeberta(TokenizerBuilder &builder);
Status buildGptNeoX(TokenizerBuilder &builder);
Status buildQwen2(TokenizerBuilder &builder);
Status buildQwen35(TokenizerBuilder &builder);
Status buildCohere(TokenizerBuilder &builder);
Status buildBlenderbot(TokenizerBuilder &builder);
Status buildClip(TokenizerBuilder &builder);

// Classes with a BPE model of characters.
Status buildLlama(TokenizerBuilder &builder);
Status buildCodeLlama(TokenizerBuilder &builder);
Status buildGemma(TokenizerBuilder &builder);
Status buildNllb(TokenizerBuilder &builder);
Status buildReformer(TokenizerBuilder &builder);
Status buildOpenAiGpt(TokenizerBuilder &builder);
Status buildHerbert(TokenizerBuilder &builder);

// Classes with a Unigram model.
Status buildT5(TokenizerBuilder &builder);
Status buildAlbert(TokenizerBuilder &builder);
Status buildXlmRoberta(TokenizerBuilder &builder);
Status buildCamembert(TokenizerBuilder &builder);
Status buildDebertaV2(TokenizerBuilder &builder);
Status buildMBart(TokenizerBuilder &builder);
Status buildMBart50(TokenizerBuilder &builder);
Status buildPegasus(TokenizerBuilder &builder);
Status buildBarthez(TokenizerBuilder &builder);
Status buildBigBird(TokenizerBuilder &builder);
Status buildRemBert(TokenizerBuilder &builder);
Status buildXlNet(TokenizerBuilder &builder);
Status buildXglm(TokenizerBuilder &builder);

// Classes that transformers implements in Python, without the package `tokenizers`.
Status buildMarian(TokenizerBuilder &builder);
Status buildM2M100(TokenizerBuilder &builder);
Status buildEsm(TokenizerBuilder &builder);
Status buildByT5(TokenizerBuilder &builder);
Status buildBertGeneration(TokenizerBuilder &builder);
Status buildBartpho(TokenizerBuilder &builder);
Status buildPhobert(TokenizerBuilder &builder);
Status buildBertweet(TokenizerBuilder &builder);
Status buildBlenderbotSmall(TokenizerBuilder &builder);

} // namespace attune::text

#endif // ATTUNE_COMPILER_TEXT_TOKENIZERCLASSES_H
