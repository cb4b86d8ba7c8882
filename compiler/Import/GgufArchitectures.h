//===- GgufArchitectures.h - The architectures of GGUF files ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For each architecture of GGUF files the names of its tensors and the keys of its metadata, both with those of
// transformers, and the conversions of tensors. Some architectures share tables.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_IMPORT_GGUFARCHITECTURES_H
#define ATTUNE_COMPILER_IMPORT_GGUFARCHITECTURES_H

#include "llvm/ADT/ArrayRef.h"

namespace attune::gguf {

/// The name of a tensor in GGUF and in transformers, both without `.weight` or `.bias`; `%` stands for the number of a
/// layer. With `#` in the name of transformers, the tensor in GGUF is a stack of matrices of experts, and `#` stands
/// for the number of one of them.
struct NamePair {
  const char *gguf, *reference;
};

/// A key of the metadata without its prefix, the name of the architecture or "tokenizer.ggml", and the key of
/// config.json.
struct KeyPair {
  const char *gguf, *reference;
};

/// The ways in which files of an architecture store tensors differently from transformers; the importer undoes them.
enum Conversion : unsigned {
  NoConversion = 0,
  /// The rows of the projections of queries and keys are permuted, so that the two components of a rotated pair are
  /// neighbors.
  PairedRows = 1,
  /// Gains of norms are stored plus one.
  NormsPlusOne = 2,
  /// Projections are stored as `[out, in]`; transformers stores them as `[in, out]`.
  TransposedProjections = 4,
};

/// The experts of an architecture: no experts, or experts in every layer with shares of a token's experts that add up to 1
/// (Normalized) or not (Plain).
enum class Experts { None, Plain, Normalized };

/// An architecture of GGUF, or the variant of it with experts, and the model type of transformers.
struct Architecture {
  const char *name, *modelType, *modelClass;
  /// The architecture's own names of tensors, which take precedence, and the names that it shares with others; then its
  /// own and its shared keys.
  llvm::ArrayRef<NamePair> ownNames, names;
  llvm::ArrayRef<KeyPair> ownKeys, keys;
  unsigned conversions;
  Experts experts = Experts::None;

  bool hasExperts() const { return experts != Experts::None; }
  /// Returns true for the architectures with RMS norms and rotary embeddings.
  bool isRotary() const;
};

/// Returns all architectures; entries of the same name are neighbors.
llvm::ArrayRef<Architecture> architectures();

} // namespace attune::gguf

#endif // ATTUNE_COMPILER_IMPORT_GGUFARCHITECTURES_H
