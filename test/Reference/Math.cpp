//===- Math.cpp - Textbook operations in double ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/Reference/Math.h"

#include <algorithm>
#include <cmath>

namespace attune::reference {

Array::Array(std::vector<int64_t> shapeIn) : shape(std::move(shapeIn)) {
  int64_t n = 1;
  for (int64_t extent : shape)
    n *= extent;
  data.assign(n, 0.0);
}

Array linear(const Array &x, const Array &w, const Array &b) {
  int64_t tokens = x.dim(0), inputs = x.dim(1), outputs = w.dim(0);
  // The innermost loop runs over tokens, so that a full-size model takes seconds; each sum still runs over K in order.
  std::vector<double> columns(inputs * tokens), sums(tokens); // columns: [K, T]
  for (int64_t t = 0; t < tokens; ++t)
    for (int64_t k = 0; k < inputs; ++k)
      columns[k * tokens + t] = x.row(t)[k];
  Array y({tokens, outputs});
  for (int64_t n = 0; n < outputs; ++n) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (int64_t k = 0; k < inputs; ++k) {
      double weight = w.row(n)[k];
      for (int64_t t = 0; t < tokens; ++t)
        sums[t] += weight * columns[k * tokens + t];
    }
    for (int64_t t = 0; t < tokens; ++t)
      y.row(t)[n] = sums[t] + b.data[n];
  }
  return y;
}

Array layerNorm(const Array &x, const Array &gain, const Array &bias, double epsilon) {
  int64_t width = x.shape.back();
  Array y(x.shape);
  for (int64_t t = 0, rows = x.data.size() / width; t < rows; ++t) {
    const double *in = x.row(t);
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < width; ++i)
      mean += in[i] / width;
    for (int64_t i = 0; i < width; ++i)
      variance += (in[i] - mean) * (in[i] - mean) / width;
    for (int64_t i = 0; i < width; ++i)
      y.row(t)[i] = (in[i] - mean) / std::sqrt(variance + epsilon) * gain.data[i] + bias.data[i];
  }
  return y;
}

Array add(const Array &a, const Array &b) {
  Array y(a.shape);
  for (size_t i = 0; i < y.data.size(); ++i)
    y.data[i] = a.data[i] + b.data[i];
  return y;
}

void softmax(double *scores, int64_t n) {
  double largest = *std::max_element(scores, scores + n), sum = 0;
  for (int64_t i = 0; i < n; ++i)
    sum += scores[i] = std::exp(scores[i] - largest);
  for (int64_t i = 0; i < n; ++i)
    scores[i] /= sum;
}

namespace {
const double pi = 3.14159265358979323846;

double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }
double geluTanh(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / pi) * (x + 0.044715 * x * x * x))); }
double relu(double x) { return x > 0 ? x : 0; }
double silu(double x) { return x / (1 + std::exp(-x)); }
double tangent(double x) { return std::tanh(x); }

struct Activation {
  const char *name;
  double (*function)(double);
};
const Activation activations[] = {{"gelu", gelu},  {"gelu_new", geluTanh}, {"gelu_pytorch_tanh", geluTanh}, {"relu", relu}, {"silu", silu},
                                  {"swish", silu}, {"tanh", tangent}};

const Activation *findActivation(const std::string &name) {
  auto found = std::find_if(std::begin(activations), std::end(activations), [&](const Activation &a) { return name == a.name; });
  return found == std::end(activations) ? nullptr : found;
}
} // namespace

bool knownActivation(const std::string &name) { return findActivation(name); }

Array activate(const Array &x, const std::string &name) {
  Array y(x.shape);
  std::transform(x.data.begin(), x.data.end(), y.data.begin(), findActivation(name)->function);
  return y;
}

} // namespace attune::reference
