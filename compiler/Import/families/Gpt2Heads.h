//===- Gpt2Heads.h - The architectures of GPT-2 -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_FAMILIES_GPT2HEADS_H
#define ATTUNE_IMPORT_FAMILIES_GPT2HEADS_H

#include "compiler/Import/PruneHeads.h"

namespace attune {

/// The values of GPT-2's keys.
struct Gpt2Keys {
  int64_t vocab, positions, hidden, layers, heads, inner, labels;
  double epsilon, dropout, classifierDropout;
  std::optional<int64_t> padding;
  mlir::xfmr::Activation activation, summaryActivation = mlir::xfmr::Activation::None;
  bool scaled, scaledByLayer, tied, cross;
  HeadsByLayer pruned;
};

/// A class and the function that adds its outputs to a spec with a declared base model.
using Gpt2Head = std::pair<const char *, void (*)(TransformerSpec &spec, const Gpt2Keys &keys)>;

/// Returns all classes, with the base model first.
const std::vector<Gpt2Head> &gpt2Heads();
/// Reads the keys `summary_…`, for the score of a choice. Records an error unless they describe a projection of one
/// token to one score.
void readGpt2Summary(ConfigReader &reader, Gpt2Keys &keys);

} // namespace attune

#endif // ATTUNE_IMPORT_FAMILIES_GPT2HEADS_H
