//===- Gpt2Heads.h - The architectures of GPT-2 -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_FAMILIES_GPT2HEADS_H
#define ATTUNE_IMPORT_FAMILIES_GPT2HEADS_H

#include "compiler/Import/PruneHeads.h"

namespace attune {

/// The keys that GPT-2 reads.
struct Gpt2Keys {
  int64_t vocab, positions, hidden, layers, heads, inner, labels;
  double epsilon, dropout, classifierDropout;
  std::optional<int64_t> padding;
  mlir::xfmr::Activation activation, summaryActivation = mlir::xfmr::Activation::None;
  bool scaled, scaledByLayer, tied, cross;
  HeadsByLayer pruned;
};

/// An architecture and what it adds to a spec whose base model is declared.
using Gpt2Head = std::pair<const char *, void (*)(TransformerSpec &spec, const Gpt2Keys &keys)>;

/// All of them, first the base model.
const std::vector<Gpt2Head> &gpt2Heads();
/// Reads how a choice is judged by one of its tokens; only a projection to one score is implemented.
void readGpt2Summary(ConfigReader &reader, Gpt2Keys &keys);

} // namespace attune

#endif // ATTUNE_IMPORT_FAMILIES_GPT2HEADS_H
