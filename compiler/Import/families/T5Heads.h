//===- T5Heads.h - The architectures of T5 ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_FAMILIES_T5HEADS_H
#define ATTUNE_IMPORT_FAMILIES_T5HEADS_H

#include "compiler/Import/families/Seq2Seq.h"

namespace attune {

/// The models that multiply the decoder's result by d_model^-0.5 before the scores of words: only those whose head is
/// tied to the word table, none, or all.
enum class T5Scaling { Tied, Never, Always };

/// A family like T5: its classes, its switches and its defaults.
struct T5Variant {
  T5Variant(const char *family, const char *prefix) : family(family), prefix(prefix) {}

  /// The `model_type`, and the prefix of the names of its classes.
  const char *family, *prefix;
  T5Scaling scaling = T5Scaling::Tied;
  /// True if every layer has a distance bias with a table of its own; otherwise that of the first layer applies to all.
  bool layerBiases = false;
  int64_t vocab = 32128, inner = 2048, layers = 6, heads = 8;
  const char *feedForward = "relu";
};

/// The values of the keys of T5's families, and the switches of a T5Variant.
struct T5Keys {
  int64_t vocab, hidden, headSize, inner, layers, decoderLayers, heads, buckets, maxDistance, labels, start, end;
  double epsilon, dropout, classifierDropout;
  mlir::xfmr::Activation activation = mlir::xfmr::Activation::None;
  bool gated = false, tied;
  T5Scaling scaling;
  bool layerBiases;
};

/// A class of a family. |first| is its name; ConfigReader::choose requires a member of this name. |declare| adds the
/// outputs to a spec with declared stacks. |prefix| is the prefix of the stacks' tensors. |decodes| is true if there is
/// a decoder, |shifts| if an entry without an input of decoder ids makes them from the encoder's.
struct T5Head {
  std::string first;
  void (*declare)(TransformerSpec &spec, const T5Keys &keys);
  const char *prefix = "";
  bool decodes = true, shifts = false;
};

/// Returns all classes of a family; their names begin with |prefix|.
std::vector<T5Head> t5Heads(const std::string &prefix);

} // namespace attune

#endif // ATTUNE_IMPORT_FAMILIES_T5HEADS_H
