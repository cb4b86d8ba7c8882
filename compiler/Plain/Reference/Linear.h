//===- Linear.h - Projections, feed-forward networks and activations -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PLAIN_REFERENCE_LINEAR_H
#define ATTUNE_COMPILER_PLAIN_REFERENCE_LINEAR_H

#include "compiler/Plain/Reference/Formats.h"
#include "compiler/Plain/Reference/Quantized.h"
#include "dialect/Xfmr/IR/XfmrOps.h"

namespace attune::reference {

namespace xfmr = mlir::xfmr;

template <typename T>
T activate(xfmr::Activation kind, T x) {
  switch (kind) {
  case xfmr::Activation::None:
    return x;
  case xfmr::Activation::Gelu:
    return T(0.5) * x * (T(1) + std::erf(x * T(0.70710678118654752440)));
  case xfmr::Activation::GeluTanh:
    return T(0.5) * x * (T(1) + std::tanh(T(0.79788456080286535588) * (x + T(0.044715) * x * x * x)));
  case xfmr::Activation::Relu:
    return x > T(0) || x != x ? x : T(0);
  case xfmr::Activation::Silu:
    return x / (T(1) + std::exp(-x));
  case xfmr::Activation::Tanh:
    return std::tanh(x);
  case xfmr::Activation::QuickGelu:
    return x / (T(1) + std::exp(T(-1.702) * x));
  case xfmr::Activation::Sigmoid:
    return T(1) / (T(1) + std::exp(-x));
  case xfmr::Activation::Relu6:
    return x != x ? x : x < T(0) ? T(0) : x > T(6) ? T(6) : x;
  case xfmr::Activation::SquaredRelu:
    return x != x ? x : x > T(0) ? x * x : T(0);
  case xfmr::Activation::LeakyRelu:
    return x > T(0) || x != x ? x : T(0.01) * x;
  }
  return x;
}

/// Returns `x w^T + bias`. Sums run over the columns of |w| in order, and the bias is added last. |bias| has an element
/// for each row of |w|, or is null for none.
template <typename T>
Matrix<T> project(const Matrix<T> &x, const Matrix<T> &w, const T *bias) {
  Matrix<T> y(x.rows, w.rows);
  for (int64_t t = 0; t < x.rows; ++t)
    for (int64_t n = 0; n < w.rows; ++n) {
      T sum = 0;
      const T *left = &x.values[t * x.columns], *right = &w.values[n * w.columns];
      for (int64_t k = 0; k < w.columns; ++k)
        sum += left[k] * right[k];
      y(t, n) = bias ? sum + bias[n] : sum;
    }
  return y;
}

template <typename T>
Matrix<T> projectBuffers(const Matrix<T> &x, const PlainBuffer &w, const PlainBuffer &bias, std::optional<int64_t> prefix = std::nullopt) {
  std::vector<T> added;
  for (int64_t n = 0; bias.present() && n < w.size(prefix ? 1 : 0); ++n)
    added.push_back(prefix ? bias.get<T>({*prefix, n}) : bias.get<T>({n}));
  return project(x, Matrix<T>(w, prefix), added.empty() ? nullptr : added.data());
}

/// Returns `x w^T + bias`. For bf16 and f16, |x| and |w| are rounded to |precision| before the product. For int8, they
/// are quantized, with one scale for each row.
template <typename T>
Matrix<T> projectInPrecision(xfmr::Precision precision, Matrix<T> x, Matrix<T> w, const PlainBuffer &bias) {
  roundToPrecision(x.values, precision);
  roundToPrecision(w.values, precision);
  std::vector<T> added;
  for (int64_t n = 0; bias.present() && n < w.rows; ++n)
    added.push_back(bias.get<T>({n}));
  if (precision != xfmr::Precision::Int8)
    return project(x, w, added.empty() ? nullptr : added.data());
  QuantizedMatrix<T> input = quantizeInput(x.values, x.rows), weights = quantizeWeights(w.values, w.rows);
  Matrix<T> y(x.rows, w.rows);
  for (int64_t t = 0; t < y.rows; ++t)
    for (int64_t n = 0; n < y.columns; ++n) {
      double sum = 0; // exact, as it adds integers
      for (int64_t k = 0; k < w.columns; ++k)
        sum += double(input.values[t * w.columns + k]) * double(weights.values[n * w.columns + k]);
      y(t, n) = T(sum) * weights.scales[n] * input.scales[t];
      if (bias.present())
        y(t, n) += added[n];
    }
  return y;
}

template <typename T>
void compute(Context<T> &c, xfmr::LinearOp op) {
  PlainBuffer multiplier = c.in(op.getMultiplier()), residual = c.in(op.getResidual());
  Matrix<T> x(c.in(op.getInput())), w(c.in(op.getWeight())), y;
  PlainBuffer bias = c.in(op.getBias());
  if (op.getFormat() && !op.getFormat()->getValue().isFloat()) {
    std::optional<Matrix<T>> product = multiplyInFormat(std::move(x), w, op.getFormat()->getValue(), op.getPrecision(), c.calibrated());
    if (!product)
      return c.fault("expected scales and minima within f16");
    y = std::move(*product);
    for (int64_t t = 0; bias.present() && t < y.rows; ++t)
      for (int64_t n = 0; n < y.columns; ++n)
        y(t, n) += bias.get<T>({n});
  } else {
    if (op.getFormat())
      roundToFormat(w.values, op.getFormat()->getValue());
    y = projectInPrecision(op.getPrecision(), std::move(x), std::move(w), bias);
  }
  for (int64_t t = 0; t < y.rows; ++t)
    for (int64_t n = 0; n < y.columns; ++n) {
      T &value = y(t, n);
      value = activate(op.getActivation(), value);
      if (multiplier.present())
        value *= multiplier.get<T>({t, n});
      if (residual.present())
        value += residual.get<T>({t, n});
    }
  writeMatrix(y, c.out({y.rows, y.columns}));
}

/// Returns an element of `xfmr.clamped_glu`: `(u + 1) * g * sigmoid(alpha * g)`, where g is the smaller of |gate| and
/// |limit|, and u is |up| clamped to -|limit| … |limit|.
template <typename T>
T clampedGlu(T gate, T up, double limit, double alpha) {
  T g = std::min(gate, T(limit)), u = std::max(T(-limit), std::min(up, T(limit)));
  return (u + T(1)) * (g / (T(1) + std::exp(T(-alpha) * g)));
}

template <typename T>
void compute(Context<T> &c, xfmr::FfnOp op) {
  Matrix<T> x(c.in(op.getInput()));
  Matrix<T> up = projectBuffers(x, c.in(op.getUp()), c.in(op.getUpBias()));
  if (op.getGate()) {
    Matrix<T> gate = projectBuffers(x, c.in(op.getGate()), c.in(op.getGateBias()));
    for (size_t i = 0; i < up.values.size(); ++i)
      up.values[i] = activate(op.getActivation(), gate.values[i]) * up.values[i];
  } else {
    for (T &value : up.values)
      value = activate(op.getActivation(), value);
  }
  Matrix<T> y = projectBuffers(up, c.in(op.getDown()), c.in(op.getDownBias()));
  PlainBuffer residual = c.in(op.getResidual());
  for (int64_t t = 0; residual.present() && t < y.rows; ++t)
    for (int64_t n = 0; n < y.columns; ++n)
      y(t, n) += residual.get<T>({t, n});
  writeMatrix(y, c.out({y.rows, y.columns}));
}

template <typename T>
void compute(Context<T> &c, xfmr::ActivationOp op) {
  PlainBuffer x = c.in(op.getInput()), y = c.out(x.sizes);
  for (int64_t i = 0, end = x.elements(); i < end; ++i) {
    auto at = x.indicesOf(i);
    y.set<T>(at, activate(op.getKind(), x.get<T>(at)));
  }
}

template <typename T>
void compute(Context<T> &c, xfmr::ClampedGluOp op) {
  PlainBuffer gate = c.in(op.getGate()), up = c.in(op.getUp()), y = c.out(gate.sizes);
  for (int64_t i = 0, end = gate.elements(); i < end; ++i) {
    auto at = gate.indicesOf(i);
    y.set<T>(at, clampedGlu(gate.get<T>(at), up.get<T>(at), op.getLimit().convertToDouble(), op.getAlpha().convertToDouble()));
  }
}

template <typename T>
void compute(Context<T> &c, xfmr::DropoutOp op) {
  PlainBuffer x = c.in(op.getInput()), y = c.out(x.sizes);
  for (int64_t i = 0, end = x.elements(); i < end; ++i)
    y.set<T>(x.indicesOf(i), x.get<T>(x.indicesOf(i)));
}

} // namespace attune::reference

#endif // ATTUNE_COMPILER_PLAIN_REFERENCE_LINEAR_H
