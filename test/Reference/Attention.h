//===- Attention.h - Attention as its formula says -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One `xfmr.attention` with its operands, and its result in double. Letters: T query tokens, S key tokens, B sequences,
// Q and K padded lengths of queries and keys, H query heads, G key heads, D and E sizes of a head's keys and values.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_REFERENCE_ATTENTION_H
#define ATTUNE_TEST_REFERENCE_ATTENTION_H

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace attune::reference {

enum class MaskKind { None, Float, Integer, Boolean };
enum class MaskedRows { Uniform, Zero, LeastMasked, LeastMaskedPast };
enum class Stage { Product, Capped, Masked, Softmax };

/// The operand `mask`: its sizes, some of them 1, and its elements. In masks of integers and booleans, 0 hides a key.
struct Mask {
  MaskKind kind = MaskKind::None;
  std::vector<int64_t> shape;
  /// For each dimension, true if it is dynamic in the type of the operand.
  std::vector<bool> dynamic;
  std::vector<float> values;

  /// Returns the element for sequence |b|, head |h|, query |i| and key |j|.
  float at(int64_t b, int64_t h, int64_t i, int64_t j) const;
};

/// The operand `relative_key` or `relative_query`: one vector for each distance, `[distances, ofHeads ? H * D : D]`. It
/// is absent if |distances| is 0.
struct RelativeTable {
  int64_t distances = 0;
  bool ofHeads = false;
  std::vector<float> values;
};

struct AttentionCase {
  int64_t heads = 1, kvHeads = 1, headDim = 1, valueDim = 1;
  /// The number of queries and of keys of each sequence, without padding.
  std::vector<int64_t> queries, keys;
  /// The number of each sequence's tokens in the key tensor. It is greater than `keys` only where `keyLengths` hides
  /// the last of them.
  std::vector<int64_t> keyTokens;
  int64_t maxQueries = 0, maxKeys = 0;
  bool keyLengths = false, cached = false, causal = false, start = false, probabilities = false;
  std::optional<int64_t> windowLeft, windowRight;
  std::optional<double> softcap, maskFill;
  double scale = 1;
  Mask mask;
  MaskedRows maskedRows = MaskedRows::Uniform;
  Stage stage = Stage::Softmax;
  /// Operands; empty if absent. The tokens of a sequence follow those of the sequence before it: query [T, H, D], key
  /// [S, G, D], value [S, G, E].
  std::vector<float> query, key, value, headMask, sinks;
  std::vector<float> distanceBias; // [biasHeads, distances]
  int64_t biasHeads = 0, distances = 0;
  RelativeTable relativeKey, relativeQuery;

  int64_t batch() const { return static_cast<int64_t>(queries.size()); }
};

struct AttentionResult {
  std::vector<double> result;        // [T, H, E]
  std::vector<double> probabilities; // [B, H, Q, K]; empty if the case does not return them
};

AttentionResult attend(const AttentionCase &c);

} // namespace attune::reference

#endif // ATTUNE_TEST_REFERENCE_ATTENTION_H
