//===- T5Heads.h - The architectures of T5 ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_FAMILIES_T5HEADS_H
#define ATTUNE_IMPORT_FAMILIES_T5HEADS_H

#include "compiler/Import/families/Seq2Seq.h"

namespace attune {

/// The keys that T5 reads.
struct T5Keys {
  int64_t vocab, hidden, headSize, inner, layers, decoderLayers, heads, buckets, maxDistance, labels, start, end;
  double epsilon, dropout, classifierDropout;
  mlir::xfmr::Activation activation = mlir::xfmr::Activation::None;
  bool gated = false, tied;
};

/// An architecture: its outputs, the prefix of the base model's tensors, whether there is a decoder, and whether that gets the encoder's
/// ids where it has none of its own. The first member is the name, for ConfigReader::choose.
struct T5Head {
  const char *first;
  void (*declare)(TransformerSpec &spec, const T5Keys &keys);
  const char *prefix = "";
  bool decodes = true, shifts = false;
};

/// All of them.
const std::vector<T5Head> &t5Heads();

} // namespace attune

#endif // ATTUNE_IMPORT_FAMILIES_T5HEADS_H
