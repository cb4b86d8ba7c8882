//===- Tokens.h - Embeddings, masks, packing, pools and positions -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PLAIN_REFERENCE_TOKENS_H
#define ATTUNE_COMPILER_PLAIN_REFERENCE_TOKENS_H

#include "compiler/Plain/Reference/Quantized.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/XfmrOps.h"

namespace attune::reference {

namespace xfmr = mlir::xfmr;

/// Copies row |from| of |source| to row |to| of |target|. A row is the part with one index in the first dimension; rows
/// of both tensors have the same shape.
inline void copyRow(const PlainBuffer &source, int64_t from, const PlainBuffer &target, int64_t to) {
  PlainBuffer row = source;
  row.sizes.erase(row.sizes.begin());
  for (int64_t i = 0, end = row.elements(); i < end; ++i) {
    llvm::SmallVector<int64_t, 5> at = row.indicesOf(i), there;
    at.insert(at.begin(), from);
    there = at;
    there[0] = to;
    copyElement(source, at, target, there);
  }
}

template <typename T>
void compute(Context<T> &c, xfmr::EmbeddingOp op) {
  xfmr::Precision tied = op.getTied().value_or(xfmr::Precision::F32);
  PlainBuffer ids = c.in(op.getIds()), table = c.in(op.getTable()), out = c.out({ids.size(0), table.size(1)});
  for (int64_t t = 0; t < ids.size(0); ++t)
    copyRow(table, ids.get<int64_t>({t}), out, t);
  for (int64_t t = 0; (op.getFormat() || tied != xfmr::Precision::F32) && t < out.size(0); ++t) {
    Matrix<T> row(1, out.size(1));
    for (int64_t n = 0; n < out.size(1); ++n)
      row(0, n) = out.get<T>({t, n});
    if (op.getFormat() && op.getFormat()->getValue().isFloat()) {
      roundToFormat(row.values, op.getFormat()->getValue());
    } else if (op.getFormat()) {
      std::optional<GroupedMatrix<T>> grouped = quantizeByGroups(row, op.getFormat()->getValue(), c.calibrated());
      if (!grouped)
        return c.fault("expected scales and minima within f16");
      for (int64_t n = 0; n < out.size(1); ++n) {
        int64_t g = n / grouped->groupColumns;
        row(0, n) = std::fma(grouped->scales(0, g), grouped->integers(0, n), grouped->minima(0, g));
      }
    } else if (tied != xfmr::Precision::Int8) {
      roundToPrecision(row.values, tied);
    } else {
      QuantizedMatrix<T> quantized = quantizeWeights(row.values, 1);
      for (int64_t n = 0; n < out.size(1); ++n)
        row(0, n) = quantized.values[size_t(n)] * quantized.scales[0];
    }
    for (int64_t n = 0; n < out.size(1); ++n)
      out.set<T>({t, n}, row(0, n));
  }
  // The product of an element and the f64 scale is computed in f64 and then rounded to T; for float, this is N5 of
  // xfmr.embedding.
  for (int64_t i = 0, end = op.getScale() ? out.elements() : 0; i < end; ++i) {
    auto at = out.indicesOf(i);
    out.set<T>(at, static_cast<T>(static_cast<double>(out.get<T>(at)) * op.getScale()->convertToDouble()));
  }
}

template <typename T>
void compute(Context<T> &c, xfmr::AdditiveMaskOp op) {
  PlainBuffer mask = c.in(op.getMask()), out = c.out(mask.sizes);
  for (int64_t i = 0, end = mask.elements(); i < end; ++i)
    out.set<T>(mask.indicesOf(i), (T(1) - mask.get<T>(mask.indicesOf(i))) * T(kLowest));
}

template <typename T>
void compute(Context<T> &c, xfmr::VisibleBeforeOp op) {
  PlainBuffer mask = c.in(op.getMask()), out = c.out(mask.sizes);
  for (int64_t b = 0; b < mask.size(0); ++b)
    for (int64_t k = 0, count = 0; k < mask.size(1); ++k) {
      out.set<int64_t>({b, k}, count);
      count += mask.get<T>({b, k}) <= T(kLowest / 2) ? 0 : 1;
    }
}

template <typename T>
void compute(Context<T> &c, xfmr::SequenceOffsetsOp op) {
  int64_t batch = c.number(op.getBatch()), length = c.number(op.getLength());
  PlainBuffer out = c.out({batch + 1});
  for (int64_t i = 0; i <= batch; ++i)
    out.set<int64_t>({i}, i * length);
}

template <typename T>
void compute(Context<T> &c, xfmr::PackTokensOp op) {
  PlainBuffer mask = c.in(op.getMask());
  int64_t batch = mask.size(0), length = mask.size(1);
  std::vector<int64_t> starts = {0}, places;
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t i = 0; i < length; ++i)
      if (mask.get<int64_t>({b, i}) != 0)
        places.push_back(b * length + i);
    starts.push_back(int64_t(places.size()));
  }
  PlainBuffer offsets = c.out({batch + 1}, 0), positions = c.out({int64_t(places.size())}, 1);
  for (size_t i = 0; i < starts.size(); ++i)
    offsets.set<int64_t>({int64_t(i)}, starts[i]);
  for (size_t i = 0; i < places.size(); ++i)
    positions.set<int64_t>({int64_t(i)}, places[i]);
}

template <typename T>
void compute(Context<T> &c, xfmr::GatherTokensOp op) {
  PlainBuffer input = c.in(op.getInput()), positions = c.in(op.getPositions());
  llvm::SmallVector<int64_t, 5> sizes = input.sizes;
  sizes[0] = positions.size(0);
  PlainBuffer out = c.out(sizes);
  for (int64_t t = 0; t < positions.size(0); ++t)
    copyRow(input, positions.get<int64_t>({t}), out, t);
}

template <typename T>
void compute(Context<T> &c, xfmr::ScatterTokensOp op) {
  PlainBuffer input = c.in(op.getInput()), positions = c.in(op.getPositions()), out = c.out({c.number(op.getRows()), input.size(1)});
  for (int64_t t = 0; t < positions.size(0); ++t)
    copyRow(input, t, out, positions.get<int64_t>({t}));
}

template <typename T>
void compute(Context<T> &c, xfmr::ScatterProbabilitiesOp op) {
  PlainBuffer input = c.in(op.getInput()), offsets = c.in(op.getOffsets()), positions = c.in(op.getPositions()), out = c.out(input.sizes);
  int64_t length = input.size(2), keys = input.size(3);
  for (int64_t b = 0; b + 1 < offsets.size(0); ++b) {
    int64_t first = offsets.get<int64_t>({b}), count = offsets.get<int64_t>({b + 1}) - first;
    for (int64_t h = 0; h < input.size(1); ++h)
      for (int64_t i = 0; i < count; ++i)
        for (int64_t j = 0; j < count; ++j)
          out.set<T>({b, h, positions.get<int64_t>({first + i}) % length, positions.get<int64_t>({first + j}) % keys},
                     input.get<T>({b, h, i, j}));
  }
}

/// Returns column |n| of the tokens |first| to |end| - 1, reduced to one value. The tokens belong to a sequence whose
/// first token is |begin|. Expects at least one token.
template <typename T>
T pooled(xfmr::PoolKind kind, const PlainBuffer &input, int64_t n, int64_t begin, int64_t first, int64_t end) {
  T result = 0, factors = 0;
  for (int64_t t = first; t < end; ++t) {
    T value = input.get<T>({t, n}), factor = kind == xfmr::PoolKind::WeightedMean ? T(t - begin + 1) : T(1);
    if (kind == xfmr::PoolKind::Max)
      result = t == first || value > result || value != value ? value : result;
    else
      result += value * factor;
    factors += factor;
  }
  switch (kind) {
  case xfmr::PoolKind::First:
  case xfmr::PoolKind::Leading:
    return input.get<T>({first, n});
  case xfmr::PoolKind::Last:
    return input.get<T>({end - 1, n});
  case xfmr::PoolKind::Max:
    return result;
  case xfmr::PoolKind::MeanSqrtLength:
    return result / std::sqrt(factors);
  case xfmr::PoolKind::Mean:
  case xfmr::PoolKind::WeightedMean:
    return result / factors;
  }
  llvm_unreachable("unknown kind");
}

template <typename T>
void compute(Context<T> &c, xfmr::PoolOp op) {
  PlainBuffer input = c.in(op.getInput()), offsets = c.in(op.getOffsets()), positions = c.in(op.getPositions()), skip = c.in(op.getSkip());
  int64_t batch = offsets.size(0) - 1, columns = input.size(1);
  PlainBuffer out = c.out({batch, columns});
  for (int64_t b = 0; b < batch; ++b) {
    int64_t begin = offsets.get<int64_t>({b}), end = offsets.get<int64_t>({b + 1});
    int64_t first = skip.present() ? begin + skip.get<int64_t>({b}) : begin;
    // `first` takes the token at position 0 of the padded sequence. If that is padding, the packed sequence lacks it,
    // and the result is 0.
    bool isPadding = op.getKind() == xfmr::PoolKind::First && positions.present() && begin < end &&
                     positions.get<int64_t>({begin}) != b * c.number(op.getLength());
    if (first >= end || isPadding)
      continue;
    for (int64_t n = 0; n < columns; ++n)
      out.set<T>({b, n}, pooled<T>(op.getKind(), input, n, begin, first, end));
  }
}

template <typename T>
void compute(Context<T> &c, xfmr::SplitHeadsOp op) {
  PlainBuffer x = c.in(op.getInput());
  int64_t heads = int64_t(op.getNumHeads()), dim = x.size(1) / heads;
  PlainBuffer out = c.out({x.size(0), heads, dim});
  for (int64_t t = 0; t < x.size(0); ++t)
    for (int64_t n = 0; n < x.size(1); ++n)
      copyElement(x, {t, n}, out, {t, n / dim, n % dim});
}

template <typename T>
void compute(Context<T> &c, xfmr::MergeHeadsOp op) {
  PlainBuffer x = c.in(op.getInput()), out = c.out({x.size(0), x.size(1) * x.size(2)});
  for (int64_t t = 0; t < out.size(0); ++t)
    for (int64_t n = 0; n < out.size(1); ++n)
      copyElement(x, {t, n / x.size(2), n % x.size(2)}, out, {t, n});
}

/// Rotates the heads of |input|, `[T, H, D]`, by the angles of |positions|. Row p of |table| is for position p: the
/// cosines of all pairs of components, then the sines. Components that belong to no pair are copied.
template <typename T>
void rotate(const PlainBuffer &input, const PlainBuffer &positions, const PlainBuffer &table, bool interleaved, const PlainBuffer &out) {
  int64_t rotated = table.size(1), half = rotated / 2;
  for (int64_t t = 0; t < input.size(0); ++t)
    for (int64_t h = 0; h < input.size(1); ++h) {
      for (int64_t d = rotated; d < input.size(2); ++d)
        out.set<T>({t, h, d}, input.get<T>({t, h, d}));
      int64_t position = positions.get<int64_t>({t});
      for (int64_t i = 0; i < half; ++i) {
        int64_t a = interleaved ? 2 * i : i, b = interleaved ? 2 * i + 1 : i + half;
        T cosine = table.get<T>({position, i}), sine = table.get<T>({position, half + i});
        T left = input.get<T>({t, h, a}), right = input.get<T>({t, h, b});
        out.set<T>({t, h, a}, left * cosine - right * sine);
        out.set<T>({t, h, b}, right * cosine + left * sine);
      }
    }
}

template <typename T>
void compute(Context<T> &c, xfmr::RotaryOp op) {
  PlainBuffer input = c.in(op.getInput());
  rotate<T>(input, c.in(op.getPositions()), c.in(op.getTable()), op.getInterleaved(), c.out(input.sizes));
}

template <typename T>
void compute(Context<T> &c, mlir::tiles::RotaryTileOp op) {
  rotate<T>(c.in(op.getInput()), c.in(op.getPositions()), c.in(op.getTable()), op.getInterleaved(), c.destination(op.getDestinations()[0]));
}

template <typename T>
void compute(Context<T> &c, xfmr::RelativePositionBiasOp op) {
  PlainBuffer table = c.in(op.getTable());
  int64_t length = c.number(op.getLength()), buckets = table.size(0), heads = table.size(1);
  bool both = op.getBidirectional();
  int64_t n = both ? buckets / 2 : buckets, m = n / 2, columns = std::max<int64_t>(2 * length - 1, 0);
  PlainBuffer out = c.out({heads, columns});
  for (int64_t column = 0; column < columns; ++column) {
    int64_t d = column - length + 1, a = both ? std::abs(d) : std::max<int64_t>(-d, 0), bucket = a;
    if (a >= m) {
      // The logarithm of the distance is computed in f32, also in runs in f64, as in transformers.
      float ratio = std::log(float(a) / float(m)) / float(std::log(double(op.getMaxDistance()) / double(m)));
      bucket = std::min<int64_t>(n - 1, m + int64_t(ratio * float(n - m)));
    }
    if (both && d > 0)
      bucket += n;
    for (int64_t h = 0; h < heads; ++h)
      out.set<T>({h, column}, table.get<T>({bucket, h}));
  }
}

template <typename T>
void compute(Context<T> &c, xfmr::AlibiBiasOp op) {
  PlainBuffer slopes = c.in(op.getSlopes());
  int64_t length = c.number(op.getLength()), columns = std::max<int64_t>(2 * length - 1, 0);
  PlainBuffer out = c.out({slopes.size(0), columns});
  for (int64_t h = 0; h < slopes.size(0); ++h)
    for (int64_t column = 0; column < columns; ++column)
      out.set<T>({h, column}, -slopes.get<T>({h}) * T(std::abs(column - length + 1)));
}

template <typename T>
void compute(Context<T> &c, xfmr::CountedPositionsOp op) {
  PlainBuffer ids = c.in(op.getIds()), out = c.out(ids.sizes);
  int64_t padding = int64_t(op.getPadding());
  for (int64_t b = 0; b < ids.size(0); ++b)
    for (int64_t i = 0, count = 0; i < ids.size(1); ++i) {
      bool token = ids.get<int64_t>({b, i}) != padding;
      count += token;
      out.set<int64_t>({b, i}, token ? padding + count : padding);
    }
}

} // namespace attune::reference

#endif // ATTUNE_COMPILER_PLAIN_REFERENCE_TOKENS_H
