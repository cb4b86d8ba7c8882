//===- Attention.cpp - Attention as its formula says -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/Reference/Attention.h"

#include <algorithm>
#include <cmath>

namespace attune::reference {

static constexpr double kLowest = std::numeric_limits<float>::lowest();

float Mask::at(int64_t b, int64_t h, int64_t i, int64_t j) const {
  std::vector<int64_t> index = shape.size() == 2   ? std::vector<int64_t>{b, j}
                               : shape.size() == 3 ? std::vector<int64_t>{b, i, j}
                                                   : std::vector<int64_t>{b, h, i, j};
  int64_t flat = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    flat = flat * shape[d] + (shape[d] == 1 ? 0 : index[d]);
  return values[flat];
}

namespace {

/// One row of scores: query |i| of head |h| of sequence |b|. The first tokens of the sequence are |firstQuery| and
/// |firstKey|.
struct Row {
  const AttentionCase &c;
  int64_t b, h, i, firstQuery, firstKey;

  int64_t keys() const { return c.keys[b]; }
  int64_t position() const { return c.start ? i : i + keys() - c.queries[b]; }
  const float *query() const { return &c.query[((firstQuery + i) * c.heads + h) * c.headDim]; }
  int64_t kvHead() const { return h / (c.heads / c.kvHeads); }
  const float *key(int64_t j) const { return &c.key[((firstKey + j) * c.kvHeads + kvHead()) * c.headDim]; }
  const float *value(int64_t j) const { return &c.value[((firstKey + j) * c.kvHeads + kvHead()) * c.valueDim]; }

  double dot(const float *x, const float *y) const {
    double sum = 0;
    for (int64_t d = 0; d < c.headDim; ++d)
      sum += double(x[d]) * y[d];
    return sum;
  }

  double product(int64_t j) const {
    double sum = dot(query(), key(j));
    if (c.relativeKey.distances)
      sum += dot(query(), relative(c.relativeKey, j));
    if (c.relativeQuery.distances)
      sum += dot(key(j), relative(c.relativeQuery, j));
    return c.scale * sum;
  }

  /// Returns the vector of |table| for the distance between the query and key |j|, or for the closest one in the table.
  const float *relative(const RelativeTable &table, int64_t j) const {
    int64_t row = std::clamp<int64_t>(position() - j + (table.distances - 1) / 2, 0, table.distances - 1);
    return &table.values[(table.ofHeads ? row * c.heads + h : row) * c.headDim];
  }

  double capped(int64_t j) const { return c.softcap ? *c.softcap * std::tanh(product(j) / *c.softcap) : product(j); }

  double masked(int64_t j) const {
    double x = capped(j);
    if (c.biasHeads)
      x += c.distanceBias[(c.biasHeads == 1 ? 0 : h) * c.distances + j - position() + (c.distances - 1) / 2];
    if (c.mask.kind == MaskKind::Float)
      x += c.mask.at(b, h, i, j);
    if (c.maskFill && c.mask.at(b, h, i, j) == 0)
      x = *c.maskFill;
    return x;
  }

  bool hiddenByPosition(int64_t j) const {
    int64_t p = position();
    return (c.causal && j > p) || (c.windowLeft && j < p - *c.windowLeft) || (c.windowRight && j > p + *c.windowRight);
  }
  bool isLater(int64_t j) const {
    int64_t p = position();
    return (c.causal && j > p) || (c.windowRight && j > p + *c.windowRight);
  }
  bool hiddenByMask(int64_t j) const {
    if (c.mask.kind == MaskKind::None || c.maskFill)
      return false;
    float m = c.mask.at(b, h, i, j);
    return c.mask.kind == MaskKind::Float ? m <= kLowest / 2 : m == 0;
  }

  /// Returns the probabilities that the attribute masked_rows defines for a row without a visible key.
  std::vector<double> masklessWeights() const {
    std::vector<double> p(keys());
    if (c.maskedRows == MaskedRows::Zero)
      return p;
    double count = 0;
    for (int64_t j = 0; j < keys(); ++j)
      count += p[j] = c.maskedRows == MaskedRows::Uniform ||
                      (hiddenByMask(j) != hiddenByPosition(j) && (c.maskedRows == MaskedRows::LeastMasked || !isLater(j)));
    for (double &x : p)
      x = count > 0 ? x / count : 1.0 / keys();
    return p;
  }

  std::vector<double> weights() const {
    std::vector<double> p(keys());
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int64_t j = 0; j < keys(); ++j) {
      p[j] = hiddenByPosition(j) || hiddenByMask(j) ? -std::numeric_limits<double>::infinity() : masked(j);
      largest = std::max(largest, p[j]);
    }
    if (std::isinf(largest))
      p = masklessWeights();
    else {
      sum = c.sinks.empty() ? 0 : std::exp(c.sinks[h] - largest);
      for (double &x : p)
        sum += x = std::exp(x - largest);
    }
    for (double &x : p)
      x *= (c.headMask.empty() ? 1.0 : c.headMask[h]) / (sum > 0 ? sum : 1);
    return p;
  }
};

} // namespace

AttentionResult attend(const AttentionCase &c) {
  AttentionResult out;
  out.result.assign(c.query.size() / c.headDim * c.valueDim, 0.0);
  double beyond = c.stage == Stage::Masked ? kLowest : 0;
  if (c.probabilities)
    out.probabilities.assign(c.batch() * c.heads * c.maxQueries * c.maxKeys, beyond);
  int64_t firstQuery = 0, firstKey = 0;
  for (int64_t b = 0; b < c.batch(); ++b) {
    for (int64_t h = 0; h < c.heads; ++h)
      for (int64_t i = 0; i < c.queries[b]; ++i) {
        Row row{c, b, h, i, firstQuery, firstKey};
        std::vector<double> p = row.weights();
        for (int64_t j = 0; j < c.keys[b]; ++j) {
          for (int64_t e = 0; e < c.valueDim; ++e)
            out.result[((firstQuery + i) * c.heads + h) * c.valueDim + e] += p[j] * row.value(j)[e];
          if (!c.probabilities)
            continue;
          bool hidden = row.hiddenByPosition(j) || row.hiddenByMask(j);
          out.probabilities[((b * c.heads + h) * c.maxQueries + i) * c.maxKeys + j] = c.stage == Stage::Product  ? row.product(j)
                                                                                      : c.stage == Stage::Capped ? row.capped(j)
                                                                                      : c.stage == Stage::Softmax
                                                                                          ? p[j]
                                                                                          : (hidden ? kLowest : row.masked(j));
        }
      }
    firstQuery += c.queries[b];
    firstKey += c.keyTokens[b];
  }
  return out;
}

} // namespace attune::reference
