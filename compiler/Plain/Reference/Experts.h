//===- Experts.h - Mixtures of experts --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PLAIN_REFERENCE_EXPERTS_H
#define ATTUNE_COMPILER_PLAIN_REFERENCE_EXPERTS_H

#include "compiler/Plain/Reference/Linear.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace attune::reference {

/// Returns |key|, or -infinity if |key| is NaN.
template <typename T>
T rankOf(T key) {
  return key != key ? -std::numeric_limits<T>::infinity() : key;
}

/// Returns the indices of |keys|, sorted by key: the largest key first, equal keys in the order of their indices. NaN
/// counts as -infinity.
template <typename T>
std::vector<int64_t> sortByKey(const std::vector<T> &keys) {
  std::vector<int64_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return rankOf(keys[a]) > rankOf(keys[b]); });
  return order;
}

/// Divides |keys| into groups of |size| consecutive keys. Returns an element for each group: true if the group is one
/// of the |kept| groups with the largest group keys. The group key is the sum of the |largest| largest keys of a group;
/// NaN counts as -infinity.
template <typename T>
std::vector<bool> chooseGroups(const std::vector<T> &keys, int64_t size, int64_t kept, int64_t largest) {
  std::vector<T> sums;
  for (auto begin = keys.begin(); begin != keys.end(); begin += size) {
    std::vector<T> group(begin, begin + size);
    std::vector<int64_t> order = sortByKey(group);
    T sum = 0;
    for (int64_t i = 0; i < largest; ++i)
      sum += rankOf(group[order[i]]);
    sums.push_back(sum);
  }
  std::vector<bool> isKept(sums.size());
  std::vector<int64_t> order = sortByKey(sums);
  for (int64_t i = 0; i < kept; ++i)
    isKept[order[i]] = true;
  return isKept;
}

template <typename T>
void compute(Context<T> &c, xfmr::ChooseExpertsOp op) {
  PlainBuffer scores = c.in(op.getScores()), bias = c.in(op.getBias());
  int64_t tokens = scores.size(0), experts = scores.size(1), count = int64_t(op.getCount());
  PlainBuffer choices = c.out({tokens, count}, 0), shares = c.out({tokens, count}, 1);
  for (int64_t t = 0; t < tokens; ++t) {
    std::vector<T> weights, keys;
    for (int64_t e = 0; e < experts; ++e) {
      T score = scores.get<T>({t, e});
      weights.push_back(op.getSigmoid() ? T(1) / (T(1) + std::exp(-score)) : score);
      keys.push_back(bias.present() ? weights[e] + bias.get<T>({e}) : weights[e]);
    }
    std::vector<int64_t> order = sortByKey(keys);
    if (op.getGroups()) {
      int64_t size = experts / int64_t(*op.getGroups());
      std::vector<bool> isKept = chooseGroups(keys, size, int64_t(*op.getKeptGroups()), int64_t(*op.getGroupKeys()));
      order.erase(std::remove_if(order.begin(), order.end(), [&](int64_t e) { return !isKept[e / size]; }), order.end());
    }
    // Without `sigmoid`, a share is the exponential of a score, divided by the sum of the exponentials of all scores
    // or, if normalized, of the chosen scores. With `sigmoid`, a share is the sigmoid of a score and, if normalized,
    // divided by the sum of the chosen sigmoids.
    if (!op.getSigmoid()) {
      // NaN does not count in the maximum.
      T most = -std::numeric_limits<T>::infinity();
      for (T weight : weights)
        most = weight > most ? weight : most;
      for (T &weight : weights)
        weight = std::exp(weight - most);
    }
    T sum = 0;
    for (int64_t i = 0; i < (op.getNormalized() ? count : experts); ++i)
      sum += weights[op.getNormalized() ? order[i] : i];
    for (int64_t i = 0; i < count; ++i) {
      choices.set<int64_t>({t, i}, order[i]);
      shares.set<T>({t, i}, op.getSigmoid() && !op.getNormalized() ? weights[order[i]] : weights[order[i]] / sum);
    }
  }
}

template <typename T>
void compute(Context<T> &c, xfmr::ExpertsOp op) {
  Matrix<T> x(c.in(op.getInput()));
  PlainBuffer choices = c.in(op.getChoices()), shares = c.in(op.getShares()), up = c.in(op.getUp()), down = c.in(op.getDown());
  Matrix<T> sum(x.rows, down.size(1));
  for (int64_t e = 0; e < up.size(0); ++e) {
    std::vector<std::pair<int64_t, T>> users;
    for (int64_t t = 0; t < x.rows; ++t)
      for (int64_t i = 0; i < choices.size(1); ++i)
        if (choices.get<int64_t>({t, i}) == e)
          users.emplace_back(t, shares.get<T>({t, i}));
    Matrix<T> rows(int64_t(users.size()), x.columns);
    for (size_t i = 0; i < users.size(); ++i)
      std::copy_n(&x.values[users[i].first * x.columns], x.columns, &rows.values[i * x.columns]);
    Matrix<T> hidden = projectBuffers(rows, up, c.in(op.getUpBias()), e);
    if (op.getGate()) {
      Matrix<T> gate = projectBuffers(rows, c.in(op.getGate()), c.in(op.getGateBias()), e);
      for (size_t i = 0; i < hidden.values.size(); ++i)
        hidden.values[i] = op.getGluLimit() ? clampedGlu(gate.values[i], hidden.values[i], op.getGluLimit()->convertToDouble(),
                                                         op.getGluAlpha()->convertToDouble())
                                            : activate(op.getActivation(), gate.values[i]) * hidden.values[i];
    } else {
      for (T &value : hidden.values)
        value = activate(op.getActivation(), value);
    }
    Matrix<T> result = projectBuffers(hidden, down, c.in(op.getDownBias()), e);
    for (size_t i = 0; i < users.size(); ++i)
      for (int64_t n = 0; n < sum.columns; ++n)
        sum(users[i].first, n) = std::fma(users[i].second, result(int64_t(i), n), sum(users[i].first, n));
  }
  writeMatrix(sum, c.out({sum.rows, sum.columns}));
}

template <typename T>
void compute(Context<T> &c, xfmr::GroupByExpertOp op) {
  PlainBuffer choices = c.in(op.getChoices()), shares = c.in(op.getShares());
  int64_t experts = int64_t(op.getExperts()), pairs = choices.elements();
  PlainBuffer offsets = c.out({experts + 1}, 0), tokens = c.out({pairs}, 1), rowShares = c.out({pairs}, 2);
  int64_t row = 0;
  for (int64_t e = 0; e < experts; ++e) {
    offsets.set<int64_t>({e}, row);
    for (int64_t t = 0; t < choices.size(0); ++t)
      for (int64_t i = 0; i < choices.size(1); ++i)
        if (choices.get<int64_t>({t, i}) == e) {
          tokens.set<int64_t>({row}, t);
          rowShares.set<T>({row++}, shares.get<T>({t, i}));
        }
  }
  offsets.set<int64_t>({experts}, row);
}

template <typename T>
void compute(Context<T> &c, xfmr::ListByExpertOp op) {
  PlainBuffer choices = c.in(op.getChoices()), shares = c.in(op.getShares());
  int64_t experts = int64_t(op.getExperts()), count = choices.size(0);
  PlainBuffer counts = c.out({experts}, 0), tokens = c.out({experts, count}, 1), rowShares = c.out({experts, count}, 2);
  for (int64_t e = 0; e < experts; ++e) {
    int64_t row = 0;
    for (int64_t t = 0; t < count; ++t)
      for (int64_t i = 0; i < choices.size(1); ++i)
        if (choices.get<int64_t>({t, i}) == e) {
          tokens.set<int64_t>({e, row}, t);
          rowShares.set<T>({e, row++}, shares.get<T>({t, i}));
          break;
        }
    counts.set<int64_t>({e}, row);
    for (; row < count; ++row) {
      tokens.set<int64_t>({e, row}, -1);
      rowShares.set<T>({e, row}, T(0));
    }
  }
}

template <typename T>
void compute(Context<T> &c, xfmr::AddRowsOp op) {
  PlainBuffer rows = c.in(op.getRows()), factors = c.in(op.getFactors()), tokens = c.in(op.getTokens()), sum = c.destination(op.getSum());
  for (int64_t i = 0; i < rows.size(0); ++i)
    for (int64_t n = 0, t = tokens.get<int64_t>({i}); (t >= 0 || !op.getPadded()) && n < rows.size(1); ++n)
      sum.set<T>({t, n}, std::fma(factors.get<T>({i}), rows.get<T>({i, n}), sum.get<T>({t, n})));
}

} // namespace attune::reference

#endif // ATTUNE_COMPILER_PLAIN_REFERENCE_EXPERTS_H
