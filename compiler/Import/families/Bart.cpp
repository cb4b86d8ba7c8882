//===- Bart.cpp - BART and its descendants --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The variants of BART, with the defaults of the configuration classes in transformers.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/BartBase.h"

using namespace attune;

/// Reads BART: norms after the residual sums, a norm of the embeddings, learned positions. The first two rows of a
/// table of positions are unused.
Result<TransformerSpec> attune::readBartSpec(const Config &config) {
  BartVariant bart("bart", "Bart");
  bart.classifies = true;
  bart.embeddingNorm = true;
  bart.positionOffset = 2;
  bart.shifts = true;
  bart.start = 2;
  bart.maskedRows = mlir::xfmr::MaskedRows::LeastMasked;
  bart.layersAlias = nullptr;
  bart.labels = 3;
  return readBartLike(config, bart);
}

/// Reads Marian: BART's layers with computed positions, sines before cosines, and without the norm of the embeddings.
Result<TransformerSpec> attune::readMarianSpec(const Config &config) {
  BartVariant marian("marian", "Marian");
  marian.generator = "MTModel";
  marian.positions = BartPositions::Sinusoidal;
  marian.ownTables = true;
  marian.maskedRows = mlir::xfmr::MaskedRows::LeastMasked;
  marian.layersAlias = nullptr;
  return readBartLike(config, marian);
}

/// Reads mBART: BART's embeddings; norms before the branches and after the last layer.
Result<TransformerSpec> attune::readMBartSpec(const Config &config) {
  BartVariant mbart("mbart", "MBart");
  mbart.classifies = true;
  mbart.placement = NormPlacement::Pre;
  mbart.embeddingNorm = true;
  mbart.finalNorm = true;
  mbart.positionOffset = 2;
  mbart.shift = BartShift::LastToken;
  mbart.shifts = true;
  return readBartLike(config, mbart);
}

/// Reads M2M100 and NLLB: mBART's layers with positions counted over the ids that are not padding, and without the norm
/// of the embeddings.
Result<TransformerSpec> attune::readM2M100Spec(const Config &config) {
  BartVariant m2m("m2m_100", "M2M100");
  m2m.decodesAlone = false;
  m2m.placement = NormPlacement::Pre;
  m2m.finalNorm = true;
  m2m.positions = BartPositions::Counted;
  m2m.logitsBias = false;
  m2m.vocab = 128112;
  m2m.activation = "relu";
  m2m.scaled = true;
  return readBartLike(config, m2m);
}

/// Reads Pegasus: mBART's layers with Marian's positions, and without the norm of the embeddings.
Result<TransformerSpec> attune::readPegasusSpec(const Config &config) {
  BartVariant pegasus("pegasus", "Pegasus");
  pegasus.placement = NormPlacement::Pre;
  pegasus.finalNorm = true;
  pegasus.positions = BartPositions::Sinusoidal;
  pegasus.scalesGivenTargets = true;
  pegasus.end = 1;
  return readBartLike(config, pegasus);
}

/// Reads Blenderbot: mBART's layers with learned positions from the first row on, and without the norm of the
/// embeddings.
Result<TransformerSpec> attune::readBlenderbotSpec(const Config &config) {
  BartVariant blenderbot("blenderbot", "Blenderbot");
  blenderbot.placement = NormPlacement::Pre;
  blenderbot.finalNorm = true;
  blenderbot.vocab = 8008;
  blenderbot.hidden = 2560;
  blenderbot.encoderLayers = 2;
  blenderbot.decoderLayers = 24;
  blenderbot.heads = 32;
  blenderbot.inner = 10240;
  blenderbot.maxPositions = 128;
  return readBartLike(config, blenderbot);
}

/// Reads Blenderbot Small: BART's layers. The decoder adds positions after the norm of words, and never scales words.
Result<TransformerSpec> attune::readBlenderbotSmallSpec(const Config &config) {
  BartVariant small("blenderbot-small", "BlenderbotSmall");
  small.embeddingNorm = true;
  small.decoderNormsWords = true;
  small.plainTargets = true;
  small.hidden = 512;
  small.encoderLayers = small.decoderLayers = 8;
  small.inner = 2048;
  small.maxPositions = 512;
  return readBartLike(config, small);
}
