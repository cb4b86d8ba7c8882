//===- T5Heads.h - The architectures of T5 ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_FAMILIES_T5HEADS_H
#define ATTUNE_IMPORT_FAMILIES_T5HEADS_H

#include "compiler/Import/families/Seq2Seq.h"

namespace attune {

/// Which models multiply the decoder's result by d_model^-0.5 before the scores of words: those whose head is not tied to the word table do
/// not, none do, all do.
enum class T5Scaling { Tied, Never, Always };

/// A family of T5's kind: its classes, its switches and the values of keys that a file lacks.
struct T5Variant {
  T5Variant(const char *family, const char *prefix) : family(family), prefix(prefix) {}

  /// The `model_type`, and the beginning of the names of its classes.
  const char *family, *prefix;
  T5Scaling scaling = T5Scaling::Tied;
  /// Every layer has a table of biases by distances, not the first one for all.
  bool layerBiases = false;
  int64_t vocab = 32128, inner = 2048, layers = 6, heads = 8;
  const char *feedForward = "relu";
};

/// The keys that these families read.
struct T5Keys {
  int64_t vocab, hidden, headSize, inner, layers, decoderLayers, heads, buckets, maxDistance, labels, start, end;
  double epsilon, dropout, classifierDropout;
  mlir::xfmr::Activation activation = mlir::xfmr::Activation::None;
  bool gated = false, tied;
  T5Scaling scaling;
  bool layerBiases;
};

/// An architecture: its outputs, the prefix of the base model's tensors, whether there is a decoder, and whether that gets the encoder's
/// ids where it has none of its own. The first member is the name, for ConfigReader::choose.
struct T5Head {
  std::string first;
  void (*declare)(TransformerSpec &spec, const T5Keys &keys);
  const char *prefix = "";
  bool decodes = true, shifts = false;
};

/// All of them, of a family whose classes begin with |prefix|.
std::vector<T5Head> t5Heads(const std::string &prefix);

} // namespace attune

#endif // ATTUNE_IMPORT_FAMILIES_T5HEADS_H
