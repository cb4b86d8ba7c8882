//===- GroupRows.cpp - Operations on each row ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "test/Reference/GroupModule.h"

#include <algorithm>
#include <cmath>

using namespace attune;
using namespace attune::reference;

/// Returns each row of |x| divided by its root mean square and multiplied by |gain|. |epsilon| is added to the mean
/// square.
static Array rmsNorm(const Array &x, const Array &gain, double epsilon) {
  Array y(x.shape);
  for (int64_t t = 0; t < x.dim(0); ++t) {
    double sum = 0;
    for (int64_t i = 0; i < x.dim(1); ++i)
      sum += x.row(t)[i] * x.row(t)[i];
    for (int64_t i = 0; i < x.dim(1); ++i)
      y.row(t)[i] = x.row(t)[i] / std::sqrt(sum / x.dim(1) + epsilon) * gain.data[i];
  }
  return y;
}

GroupModule::Rows GroupModule::norm(const Rows &x) {
  int64_t width = x.width();
  // With a smaller epsilon, a row whose elements are nearly equal would enlarge the rounding errors of the operations
  // before it too much for the tolerance.
  const char *epsilon = width < 16 ? "1.0e-2" : "1.0e-3";
  Rows gain = parameter({width}, 2);
  Array sum = x.data;
  std::string vector = "tensor<" + str(width) + "xf32>", clause;
  if (r.chance(50)) {
    Rows residual = like(width, x);
    sum = reference::add(sum, residual.data);
    clause = " residual(" + residual.value + " : " + residual.type() + ")";
  }
  clause += std::string(" {epsilon = ") + epsilon + " : f64} : " + x.type() + ", " + vector;
  if (r.chance(40))
    return result("xfmr.rms_norm " + x.value + ", " + gain.value + clause, rmsNorm(sum, gain.data, std::atof(epsilon)));
  Rows bias = parameter({width}, 1);
  return result("xfmr.layer_norm " + x.value + ", " + gain.value + ", " + bias.value + clause + ", " + vector,
                layerNorm(sum, gain.data, bias.data, std::atof(epsilon)));
}

GroupModule::Rows GroupModule::rotary(const Rows &x) {
  std::vector<int64_t> counts;
  for (int64_t count = 1; count <= x.width() / 2; ++count)
    if (x.width() % count == 0)
      counts.push_back(count);
  if (counts.empty())
    return x;
  int64_t heads = counts[r.range(0, counts.size() - 1)], each = x.width() / heads,
          turned = r.chance(60) ? each / 2 * 2 : 2 * r.range(1, each / 2);
  int64_t half = turned / 2, positions = 40;
  bool interleaved = r.chance(40);
  Rows table = parameter({positions, turned}, 1);
  std::vector<int64_t> ids(tokens);
  for (int64_t &id : ids)
    id = r.range(0, positions - 1);
  std::string given = input(name("places"), {"t"}, {tokens}, ids), type = "tensor<?x" + str(heads) + "x" + str(each) + "xf32>";
  Array y = x.data;
  for (int64_t t = 0; t < tokens; ++t)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < half; ++i) {
        int64_t a = h * each + (interleaved ? 2 * i : i), b = a + (interleaved ? 1 : half);
        double c = table.data.row(ids[t])[i], s = table.data.row(ids[t])[half + i];
        y.row(t)[a] = x.data.row(t)[a] * c - x.data.row(t)[b] * s;
        y.row(t)[b] = x.data.row(t)[b] * c + x.data.row(t)[a] * s;
      }
  std::string split = fresh(), result = fresh();
  line(split + " = xfmr.split_heads " + x.value + ", " + str(heads) + " : " + x.type());
  line(result + " = xfmr.rotary " + split + ", " + given + ", " + table.value + (interleaved ? " {interleaved}" : "") + " : " + type +
       ", tensor<" + str(positions) + "x" + str(turned) + "xf32>");
  return this->result("xfmr.merge_heads " + result + " : " + type, y);
}

GroupModule::Rows GroupModule::elementwise(const Rows &x) {
  if (r.chance(40)) {
    Array y = x.data;
    bool log = r.chance(40);
    for (int64_t t = 0; t < tokens; ++t) {
      double *row = y.row(t), sum = 0, largest = row[0];
      for (int64_t i = 0; i < x.width(); ++i)
        largest = std::max(largest, row[i]);
      for (int64_t i = 0; i < x.width(); ++i)
        sum += std::exp(row[i] - largest);
      for (int64_t i = 0; i < x.width(); ++i)
        row[i] = log ? row[i] - largest - std::log(sum) : std::exp(row[i] - largest) / sum;
    }
    return result(std::string("xfmr.softmax ") + (log ? "log " : "") + x.value + " : " + x.type(), y);
  }
  if (r.chance(50)) {
    Rows other = like(x.width(), x);
    return result("arith.addf " + x.value + ", " + other.value + " : " + x.type(), reference::add(x.data, other.data));
  }
  Function f = kFunctions[r.range(1, std::size(kFunctions) - 1)];
  return result(std::string("xfmr.activation <") + f.op + "> " + x.value + " : " + x.type(), activated(x.data, f));
}
