//===- Attention.h - Attention of sequences and of tiles --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// `xfmr.attention`, `xfmr.multi_head_attention` and `tile.attention_tile` compute each row by the same function, so
// that the plain path gives the same bits before and after one of them is lowered to the next.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PLAIN_REFERENCE_ATTENTION_H
#define ATTUNE_COMPILER_PLAIN_REFERENCE_ATTENTION_H

#include "compiler/Plain/Reference/Caches.h"
#include "compiler/Plain/Reference/Linear.h"
#include "dialect/Tile/IR/TileOps.h"

namespace attune::reference {

/// The attributes of an attention operation.
struct AttentionRules {
  double scale;
  bool causal;
  std::optional<int64_t> windowLeft, windowRight;
  std::optional<double> softcap, maskFill;
  xfmr::MaskedRows maskedRows;
  xfmr::ScoreStage stage;
};

template <typename OpT>
AttentionRules getRules(OpT op) {
  auto number = [](std::optional<llvm::APFloat> value) { return value ? std::optional(value->convertToDouble()) : std::nullopt; };
  return {op.getScale().convertToDouble(),
          op.getCausal(),
          op.getWindowLeft() ? std::optional<int64_t>(*op.getWindowLeft()) : std::nullopt,
          op.getWindowRight() ? std::optional<int64_t>(*op.getWindowRight()) : std::nullopt,
          number(op.getSoftcap()),
          number(op.getMaskFill()),
          op.getMaskedRows(),
          op.getScoreStage()};
}

/// The operands of one row, that is of one query of one head. |position| is the position of the query among the |keys|
/// keys, p in the description of `xfmr.attention`. The functions return component d of the query, and component d of
/// the key or value j.
template <typename T>
struct AttentionRow {
  int64_t keys = 0, headDim = 0, valueDim = 0, position = 0;
  std::function<T(int64_t)> query;
  std::function<T(int64_t, int64_t)> key, value;
  /// Returns for key j the addend of its score, and true if the mask hides the key or, with `mask_fill`, replaces its
  /// score. Null without a mask.
  std::function<std::pair<T, bool>(int64_t)> mask;
  /// The bias for the distance `j - position` of key j, and component d of the relative vector for the distance
  /// `position - j`; the distance is the first parameter. Null if the operation has none.
  std::function<T(int64_t)> distanceBias;
  std::function<T(int64_t, int64_t)> relativeKey, relativeQuery;
  std::optional<T> headScale, sink;
};

/// The results of one row: the |valueDim| components of its output and, for each key, the element of `probabilities`
/// that `score_stage` selects, and true if `causal` or a window hides the key.
template <typename T>
struct AttentionOutputs {
  std::vector<T> output, probabilities;
  std::vector<bool> hiddenByPosition;
};

/// Returns the probabilities of |scores|, one for each key. |byPosition| and |byMask| mark the keys that positions
/// (`causal` or a window) and the mask hide. |byEnd| marks those that `causal` or `window_right` hides because they are
/// too far after the query. |rule| gives the probabilities of a row without a visible key. |sink| is a further score:
/// its exponential is part of the sum that divides the exponentials of visible keys.
template <typename T>
std::vector<T> softmaxVisible(const std::vector<T> &scores, const std::vector<bool> &byPosition, const std::vector<bool> &byMask,
                              const std::vector<bool> &byEnd, xfmr::MaskedRows rule, std::optional<T> sink) {
  size_t count = scores.size();
  std::vector<T> result(count, T(0));
  std::vector<bool> used(count);
  bool any = false;
  for (size_t j = 0; j < count; ++j)
    any = (used[j] = !byPosition[j] && !byMask[j]) || any;
  if (!any) {
    if (rule == xfmr::MaskedRows::Zero)
      return result;
    bool some = false;
    for (size_t j = 0; j < count; ++j)
      some = (used[j] = rule == xfmr::MaskedRows::Uniform ||
                        (byPosition[j] != byMask[j] && !(rule == xfmr::MaskedRows::LeastMaskedPast && byEnd[j]))) ||
             some;
    if (!some)
      used.assign(count, true);
    T share = T(1) / T(std::count(used.begin(), used.end(), true));
    for (size_t j = 0; j < count; ++j)
      result[j] = used[j] ? share : T(0);
    return result;
  }
  T most = -std::numeric_limits<T>::infinity(), sum = 0;
  for (size_t j = 0; j < count; ++j)
    if (used[j] && (scores[j] > most || scores[j] != scores[j]))
      most = scores[j];
  for (size_t j = 0; j < count; ++j) {
    result[j] = used[j] ? std::exp(scores[j] - most) : T(0);
    sum += result[j];
  }
  if (sink)
    sum += std::exp(*sink - most);
  for (T &value : result)
    value /= sum;
  return result;
}

template <typename T>
AttentionOutputs<T> attendRow(const AttentionRow<T> &row, const AttentionRules &rules) {
  AttentionOutputs<T> result;
  std::vector<T> scores(row.keys), stored(row.keys), query(row.headDim);
  for (int64_t d = 0; d < row.headDim; ++d)
    query[d] = row.query(d);
  std::vector<bool> byMask(row.keys), byEnd(row.keys);
  result.hiddenByPosition.assign(row.keys, false);
  for (int64_t j = 0; j < row.keys; ++j) {
    T product = 0;
    for (int64_t d = 0; d < row.headDim; ++d) {
      T k = row.key(j, d);
      product += query[d] * (row.relativeKey ? k + row.relativeKey(row.position - j, d) : k);
      if (row.relativeQuery)
        product += k * row.relativeQuery(row.position - j, d);
    }
    T score = product * T(rules.scale);
    stored[j] = score;
    if (rules.softcap)
      score = T(*rules.softcap) * std::tanh(score / T(*rules.softcap));
    if (rules.stage == xfmr::ScoreStage::Capped)
      stored[j] = score;
    if (row.distanceBias)
      score += row.distanceBias(j - row.position);
    if (row.mask) {
      auto [added, hides] = row.mask(j);
      if (!rules.maskFill) {
        score += added;
        byMask[j] = hides;
      } else if (hides) {
        score = T(*rules.maskFill);
      }
    }
    byEnd[j] = (rules.causal && j > row.position) || (rules.windowRight && j > row.position + *rules.windowRight);
    result.hiddenByPosition[j] = byEnd[j] || (rules.windowLeft && j < row.position - *rules.windowLeft);
    if (rules.stage == xfmr::ScoreStage::Masked)
      stored[j] = result.hiddenByPosition[j] || byMask[j] ? T(kLowest) : score;
    scores[j] = score;
  }
  std::vector<T> shares = softmaxVisible(scores, result.hiddenByPosition, byMask, byEnd, rules.maskedRows, row.sink);
  for (T &share : shares)
    if (row.headScale)
      share *= *row.headScale;
  result.output.resize(row.valueDim);
  for (int64_t e = 0; e < row.valueDim; ++e) {
    T sum = 0;
    for (int64_t j = 0; j < row.keys; ++j)
      sum += shares[j] * row.value(j, e);
    result.output[e] = sum;
  }
  result.probabilities = rules.stage == xfmr::ScoreStage::Softmax ? shares : stored;
  return result;
}

/// Returns component |d| of the relative vector of head |h| for |distance|, the position of the query minus that of the
/// key. A distance beyond the table has the first or last vector of |table|. The table is `[N, D]`, which all heads
/// share, `[N, H * D]`, or the panels of `xfmr.weight_distance_panels`; D is |headDim|.
template <typename T>
T relativeComponent(const PlainBuffer &table, int64_t headDim, int64_t h, int64_t distance, int64_t d) {
  bool panels = table.rank() == 3;
  int64_t rows = panels ? table.size(2) - 2 * xfmr::kDistancePadding : table.size(0);
  int64_t at = std::clamp<int64_t>(distance + (rows - 1) / 2, 0, rows - 1);
  if (panels)
    return table.get<T>({table.size(0) == 1 ? 0 : h, d, rows - 1 - at + xfmr::kDistancePadding});
  return table.get<T>({at, table.size(1) == headDim ? d : h * headDim + d});
}

/// Sets the distance bias, relative vectors, head scale and sink of |row| for head |h| from those of the buffers that
/// have data.
template <typename T>
void addBiases(AttentionRow<T> &row, int64_t h, PlainBuffer distanceBias, PlainBuffer relativeKey, PlainBuffer relativeQuery,
               PlainBuffer headScale, PlainBuffer sinks) {
  if (distanceBias.present())
    row.distanceBias = [=](int64_t distance) {
      return distanceBias.get<T>({distanceBias.size(0) == 1 ? 0 : h, distance + (distanceBias.size(1) - 1) / 2});
    };
  if (relativeKey.present())
    row.relativeKey = [=, dim = row.headDim](int64_t distance, int64_t d) {
      return relativeComponent<T>(relativeKey, dim, h, distance, d);
    };
  if (relativeQuery.present())
    row.relativeQuery = [=, dim = row.headDim](int64_t distance, int64_t d) {
      return relativeComponent<T>(relativeQuery, dim, h, distance, d);
    };
  if (headScale.present())
    row.headScale = headScale.get<T>({h});
  if (sinks.present())
    row.sink = sinks.get<T>({h});
}

/// Returns the mask element at |indices|, where dimensions of size 1 are broadcast: the addend of the score, and true
/// if the element hides the key. An integer adds 0, and hides the key if it is 0. A float is the addend, and hides the
/// key if it is at most kHiddenScore.
template <typename T>
std::pair<T, bool> maskElement(const PlainBuffer &mask, llvm::SmallVector<int64_t, 4> indices) {
  for (size_t dim = 0; dim < indices.size(); ++dim)
    if (mask.size(dim) == 1)
      indices[dim] = 0;
  if (mask.kind != ElementKind::F32 && mask.kind != ElementKind::F64)
    return {T(0), mask.get<int64_t>(indices) == 0};
  T value = mask.get<T>(indices);
  return {value, value <= T(xfmr::kHiddenScore)};
}

/// A tensor `[T, H, D]` that attention reads: T tokens, |heads| heads and |dim| components.
template <typename T>
struct HeadTensor {
  int64_t heads, dim;
  std::function<T(int64_t token, int64_t head, int64_t d)> at;
};

template <typename T>
HeadTensor<T> headsOf(const PlainBuffer &buffer) {
  return {buffer.size(1), buffer.size(2), [=](int64_t t, int64_t h, int64_t d) { return buffer.get<T>({t, h, d}); }};
}

/// Returns the components of |head| for the tokens |first| to |first| + |count| - 1, `[count, dim]` in row-major order.
template <typename T>
std::vector<T> copyHead(const HeadTensor<T> &tensor, int64_t first, int64_t count, int64_t head) {
  std::vector<T> copy;
  for (int64_t t = 0; t < count; ++t)
    for (int64_t d = 0; d < tensor.dim; ++d)
      copy.push_back(tensor.at(first + t, head, d));
  return copy;
}

/// Computes attention of all sequences. Calls |write| with the token, the head and the output of each row; sets the
/// result `probabilities` if the operation has it. |key| and |value| are token tensors split into heads, or null; then
/// the keys and values are in |keyCache| and |valueCache|.
template <typename T, typename OpT>
void attendSequences(Context<T> &c, OpT op, const HeadTensor<T> &query, const HeadTensor<T> *key, const HeadTensor<T> *value,
                     PlainBuffer keyCache, PlainBuffer valueCache,
                     llvm::function_ref<void(int64_t, int64_t, const std::vector<T> &)> write) {
  AttentionRules rules = getRules(op);
  PlainBuffer queryOffsets = c.in(op.getQueryOffsets()), keyOffsets = c.in(op.getKeyOffsets()), keyLengths = c.in(op.getKeyLengths());
  PlainBuffer slots, mask = c.in(op.getMask());
  if constexpr (std::is_same_v<OpT, xfmr::AttentionOp>)
    slots = c.in(op.getSlots());
  PlainBuffer distanceBias = c.in(op.getDistanceBias()), relativeKey = c.in(op.getRelativeKey());
  PlainBuffer relativeQuery = c.in(op.getRelativeQuery());
  PlainBuffer headMask = c.in(op.getHeadMask()), sinks = c.in(op.getSinks());
  int64_t batch = queryOffsets.size(0) - 1, groups = key ? key->heads : keyCache.size(1);
  PlainBuffer probabilities;
  if (op.getProbabilities()) {
    probabilities = c.out({batch, query.heads, c.number(op.getQueryLength()), c.number(op.getKeyLength())}, 1);
    if (rules.stage == xfmr::ScoreStage::Masked)
      for (int64_t i = 0, end = probabilities.elements(); i < end; ++i)
        probabilities.set<T>(probabilities.indicesOf(i), T(kLowest));
  }
  for (int64_t b = 0; b < batch; ++b) {
    int64_t firstQuery = queryOffsets.get<int64_t>({b}), queries = queryOffsets.get<int64_t>({b + 1}) - firstQuery;
    int64_t firstKey = key ? keyOffsets.get<int64_t>({b}) : 0, keys = key ? keyOffsets.get<int64_t>({b + 1}) - firstKey : 0;
    if (keyLengths.present())
      keys = key ? std::min(keys, keyLengths.get<int64_t>({b})) : keyLengths.get<int64_t>({b});
    int64_t slot = slots.present() ? slots.get<int64_t>({b}) : b;
    for (int64_t h = 0; h < query.heads; ++h) {
      int64_t g = h / (query.heads / groups);
      // Every query of the sequence reads all keys and values of head g, so they are copied once.
      std::vector<T> headKeys, headValues;
      if (key) {
        headKeys = copyHead(*key, firstKey, keys, g);
        headValues = copyHead(*value, firstKey, keys, g);
      }
      for (int64_t i = 0; i < queries; ++i) {
        AttentionRow<T> row;
        row.keys = keys;
        row.headDim = query.dim;
        row.valueDim = value ? value->dim : countComponents(valueCache, valueCache.size(3));
        row.position = op.getAlignment() == xfmr::Alignment::Start ? i : i + keys - queries;
        row.query = [&](int64_t d) { return query.at(firstQuery + i, h, d); };
        if (key) {
          row.key = [&](int64_t j, int64_t d) { return headKeys[j * key->dim + d]; };
          row.value = [&](int64_t j, int64_t e) { return headValues[j * value->dim + e]; };
        } else {
          row.key = [&](int64_t j, int64_t d) { return loadKey<T>(keyCache, {slot, g}, j, d); };
          row.value = [&](int64_t j, int64_t e) { return loadValue<T>(valueCache, {slot, g}, j, e); };
        }
        if (mask.present())
          row.mask = [&](int64_t j) {
            if (mask.rank() == 2)
              return maskElement<T>(mask, {b, j});
            return mask.rank() == 3 ? maskElement<T>(mask, {b, i, j}) : maskElement<T>(mask, {b, h, i, j});
          };
        addBiases(row, h, distanceBias, relativeKey, relativeQuery, headMask, sinks);
        AttentionOutputs<T> result = attendRow(row, rules);
        write(firstQuery + i, h, result.output);
        for (int64_t j = 0; probabilities.present() && j < keys; ++j)
          probabilities.set<T>({b, h, i, j}, result.probabilities[j]);
      }
    }
  }
}

template <typename T>
void compute(Context<T> &c, xfmr::AttentionOp op) {
  PlainBuffer queryBuffer = c.in(op.getQuery()), keyBuffer = c.in(op.getKey()), valueBuffer = c.in(op.getValue());
  HeadTensor<T> query = headsOf<T>(queryBuffer);
  PlainBuffer out = c.out({queryBuffer.size(0), queryBuffer.size(1), countComponents(valueBuffer, valueBuffer.sizes.back())});
  auto write = [&](int64_t t, int64_t h, const std::vector<T> &row) {
    for (size_t e = 0; e < row.size(); ++e)
      out.set<T>({t, h, int64_t(e)}, row[e]);
  };
  if (op.isCached())
    return attendSequences<T>(c, op, query, nullptr, nullptr, keyBuffer, valueBuffer, write);
  HeadTensor<T> key = headsOf<T>(keyBuffer), value = headsOf<T>(valueBuffer);
  attendSequences<T>(c, op, query, &key, &value, {}, {}, write);
}

template <typename T>
void compute(Context<T> &c, xfmr::MultiHeadAttentionOp op) {
  Matrix<T> x(c.in(op.getQuery())), memory(c.in(op.getMemory()));
  Matrix<T> valueInput = op.getValue() ? Matrix<T>(c.in(op.getValue())) : memory;
  Matrix<T> q = projectBuffers(x, c.in(op.getWq()), c.in(op.getBq()));
  Matrix<T> k = projectBuffers(memory, c.in(op.getWk()), c.in(op.getBk()));
  Matrix<T> v = projectBuffers(valueInput, c.in(op.getWv()), c.in(op.getBv()));
  auto split = [](const Matrix<T> &matrix, int64_t heads) {
    int64_t dim = matrix.columns / heads;
    return HeadTensor<T>{heads, dim, [&matrix, dim](int64_t t, int64_t h, int64_t d) {
                           bool inside = t >= 0 && t < matrix.rows;
                           return inside ? matrix(t, h * dim + d) : T(0);
                         }};
  };
  HeadTensor<T> query = split(q, op.getNumHeads()), key = split(k, op.getNumKvHeads()), value = split(v, op.getNumKvHeads());
  Matrix<T> merged(x.rows, op.getNumHeads() * value.dim);
  attendSequences<T>(c, op, query, &key, &value, {}, {}, [&](int64_t t, int64_t h, const std::vector<T> &row) {
    for (size_t e = 0; e < row.size() && t < merged.rows; ++e)
      merged(t, h * value.dim + int64_t(e)) = row[e];
  });
  if (op.getWo())
    merged = projectBuffers(merged, c.in(op.getWo()), c.in(op.getBo()));
  writeMatrix(merged, c.out({merged.rows, merged.columns}));
}

template <typename T>
void compute(Context<T> &c, mlir::tiles::AttentionTileOp op) {
  if (op.getPrecision() != xfmr::Precision::F32)
    return c.fault("expected products of f32, got " + xfmr::stringifyPrecision(op.getPrecision()).str());
  AttentionRules rules = getRules(op);
  PlainBuffer query = c.in(op.getQuery()), key = c.in(op.getKey()), value = c.in(op.getValue()), mask = c.in(op.getMask());
  PlainBuffer distanceBias = c.in(op.getDistanceBias()), relativeKey = c.in(op.getRelativeKey());
  PlainBuffer relativeQuery = c.in(op.getRelativeQuery());
  PlainBuffer headScale = c.in(op.getHeadScale()), sinks = c.in(op.getSinks());
  PlainBuffer out = c.destination(op.getDestinations()[0]), probabilities;
  if (op.getProbabilities())
    probabilities = c.destination(op.getProbabilities(), 1);
  int64_t keys = value.size(0), first = c.number(op.getPosition());
  for (int64_t i = 0; i < query.size(0); ++i)
    for (int64_t h = 0; h < query.size(1); ++h) {
      AttentionRow<T> row;
      row.keys = keys;
      row.headDim = query.size(2);
      row.valueDim = countComponents(value, value.size(1));
      row.position = first + i;
      row.query = [&](int64_t d) { return query.get<T>({i, h, d}); };
      if (key.rank() == 2)
        row.key = [&](int64_t j, int64_t d) { return key.get<T>({j, d}); };
      else
        row.key = [&](int64_t j, int64_t d) { return loadKey<T>(key, {}, j, d); };
      row.value = [&](int64_t j, int64_t e) { return loadValue<T>(value, {}, j, e); };
      if (mask.present())
        row.mask = [&](int64_t j) {
          // The mask of a tile is f32; with `mask_fill`, a negative element replaces the score.
          std::pair<T, bool> element = mask.rank() == 1   ? maskElement<T>(mask, {j})
                                       : mask.rank() == 2 ? maskElement<T>(mask, {i, j})
                                                          : maskElement<T>(mask, {h, i, j});
          if (rules.maskFill)
            element.second = element.first < T(0);
          return element;
        };
      addBiases(row, h, distanceBias, relativeKey, relativeQuery, headScale, sinks);
      AttentionOutputs<T> result = attendRow(row, rules);
      for (int64_t e = 0; e < row.valueDim; ++e)
        out.set<T>({i, h, e}, result.output[e]);
      for (int64_t j = 0; probabilities.present() && j < keys; ++j)
        if (!result.hiddenByPosition[j] || rules.stage != xfmr::ScoreStage::Softmax)
          probabilities.set<T>({h, i, j}, result.probabilities[j]);
    }
}

} // namespace attune::reference

#endif // ATTUNE_COMPILER_PLAIN_REFERENCE_ATTENTION_H
